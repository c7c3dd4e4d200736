"""Steps of structural EM: expected scores by enumeration, and the theorem that makes it climb."""

import numpy as np
import pytest

from latentforest import Dataset, Structure, Variable
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import PatternedData
from latentforest.scores.families import FamilyPrior
from latentforest.search.dags.search import DagSearchSettings
from latentforest.search.structural.arcs import list_changes, to_masks, to_names
from latentforest.search.structural.fits import NetworkFits
from latentforest.search.structural.steps import (
    ExpectedScores,
    StepSettings,
    StructureSteps,
    scatter_rows,
)
from reference.expected_scores import expected_bic
from reference.random_networks import fill_randomly

VARIABLES = [Variable.hidden("H", 2)] + [
    Variable(name, tuple("012"[: 2 + (name == "c")])) for name in "abcd"
]
TRUE = Structure(VARIABLES, {"a": "H", "b": ("a", "H"), "c": "b", "d": ("b", "H")})
START = Structure(VARIABLES, {"a": "H", "b": "H"})
USE = StepSettings(DagSearchSettings(), "bic", FamilyPrior(), (), (), None, None)


@pytest.fixture(scope="module")
def table():
    drawn = fill_randomly(TRUE, 5, 0.0).sample(400, random_state=5)
    rng = np.random.default_rng(5)
    columns = [np.where(rng.random(400) < 0.2, -1, column) for column in drawn.columns]
    return Dataset(drawn.variables, columns)


@pytest.fixture
def fits(table):
    return NetworkFits(PatternedData(table), "bic", EMSettings(50, 1e-7), None)


def test_expected_scores_are_those_of_enumeration(table, fits):
    model = fits.fit(START, fill_randomly(START, 1, 0.0).parameters)
    expected = ExpectedScores(fits.complete(model.network), USE)
    for structure in (START, TRUE):
        names = expected.names
        masks = to_masks(names, {name: structure.parents(name) for name in names})
        exact = expected_bic(structure, model.network, table)
        assert expected.sum(masks) == pytest.approx(exact, abs=0.01)  # rare completions left out


def test_the_best_change_is_the_best_of_all(fits):
    model = fits.fit(START, fill_randomly(START, 1, 0.0).parameters)
    expected = ExpectedScores(fits.complete(model.network), USE)
    names = expected.names
    masks = to_masks(names, {name: START.parents(name) for name in names})
    best = expected.find_best_change(masks)
    every = [expected.sum(c.parents) for c in list_changes(masks, expected.constraints)]
    assert expected.sum(best.parents) == pytest.approx(max(every))
    assert max(every) > expected.sum(masks)


@pytest.mark.parametrize("takes_one", [True, False])
def test_what_is_expected_to_be_better_is_better(fits, takes_one):
    """Theorem 8.2: if the expected score rises, so does that of the observed cells."""
    model = fits.fit(START, fill_randomly(START, 1, 0.0).parameters)
    steps, scores = StructureSteps(fits, USE, takes_one, False), [model.score]
    while (step := steps.propose(model)) is not None:
        if step.fitted.score <= model.score:
            break
        model = step.fitted
        scores.append(model.score)
    assert len(scores) > 1
    assert all(np.diff(scores) > 0)


def test_full_evaluation_fits_every_neighbour(fits):
    model = fits.fit(START, fill_randomly(START, 1, 0.0).parameters)
    n_before = fits.n_fits
    step = StructureSteps(fits, USE, False, True).propose(model)
    masks = to_masks(START.names, {name: START.parents(name) for name in START.names})
    changes = list(list_changes(masks, USE.read_constraints(START.names)))
    assert fits.n_fits - n_before == len(changes)
    assert step.change.operator in ("add", "delete", "reverse")
    assert step.fitted.score > model.score


def test_a_rough_table_leads_to_the_same_structure(fits, monkeypatch):
    model = fits.fit(START, fill_randomly(START, 1, 0.0).parameters)
    plain = StructureSteps(fits, USE, False, False).propose(model)
    monkeypatch.setattr("latentforest.search.structural.steps.ROUGH_ROWS", 0)
    rough = StructureSteps(fits, USE, False, False).propose(model)
    assert rough.fitted.score == pytest.approx(plain.fitted.score, abs=3.0)


def test_with_many_completions_the_rarest_are_left_out(fits, monkeypatch):
    model = fits.fit(START, fill_randomly(START, 1, 0.0).parameters)
    exact = fits.complete(model.network)
    monkeypatch.setattr("latentforest.search.structural.fits.MOST_COMPLETIONS", 1)
    fewer = fits.complete(model.network)
    assert fewer.n_completions < exact.n_completions
    assert exact.left_out < fewer.left_out == fits.left_out
    assert fewer.data.total_weight == pytest.approx(exact.data.total_weight)


def test_scattered_rows_are_the_same_rows(table):
    scattered = scatter_rows(table)
    rows = [sorted(zip(*(c.tolist() for c in t.columns), strict=True)) for t in (table, scattered)]
    assert rows[0] == rows[1]


def test_masks_and_names_are_inverse():
    names = START.names
    parents = {name: TRUE.parents(name) for name in names}
    assert {n: set(p) for n, p in to_names(names, to_masks(names, parents)).items()} == {
        n: set(p) for n, p in parents.items()
    }
