"""Families scored by expected counts, and links changed by them."""

from itertools import combinations

import numpy as np
import pytest

from latentforest import Dataset, datasets, fit
from latentforest.data import Variable
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import PatternedData
from latentforest.model.notation import read_structure
from latentforest.search.glc.draft import Draft
from latentforest.search.glc.expected_families import ExpectedFamilies
from latentforest.search.glc.fits import FitEffort, Fitter
from latentforest.search.glc.link_climbing import climb_links, estimate_gain
from latentforest.search.glc.neighbours import GlcRules
from reference.expected_families import expected_score, multiply_margins, posteriors_of_rows
from reference.random_networks import fill_randomly

COLUMNS = [Variable(name, ("no", "yes")) for name in "ABC"] + [Variable("D", tuple("pqr"))]
TEXTS = (
    "X[2] -> A, B, C, D",
    "X[3] -> Y[2], A, B; Y -> B, C, D; A -> C",
    "X[2], Y[2] -> A, B, D; X -> C",
)


def make(text, seed=0, missing=0.0):
    network = fill_randomly(read_structure(text, COLUMNS), seed, share_of_zeros=0.0)
    table = network.sample(20, random_state=seed).merged()[0]
    gaps = np.random.default_rng(seed).random((4, table.n_rows)) < missing
    columns = [np.where(gap, -1, column) for gap, column in zip(gaps, table.columns, strict=True)]
    return network, Dataset(table.variables, columns, table.weights)


def list_families(network, n_parents):
    for child in network.observed:
        others = [name for name in network.names if name != child]
        yield from ((child, frozenset(parents)) for parents in combinations(others, n_parents))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_scores_equal_enumeration(text, missing):
    network, table = make(text, missing=missing)
    data = PatternedData(table)
    families = ExpectedFamilies(network, data, {})
    exact = posteriors_of_rows(network, data.dataset)
    products = [multiply_margins(each) for each in exact]
    for n_parents in (0, 1, 2):
        for child, parents in list_families(network, n_parents):
            posteriors = exact if families.is_exact({child, *parents}) else products
            expected = expected_score(network, data.dataset, posteriors, child, sorted(parents))
            assert families.score(child, parents) == pytest.approx(expected, abs=1e-9)


def test_latent_children():
    network, table = make("X[3] -> Y[2], A, B; Y -> C, D")
    families = ExpectedFamilies(network, PatternedData(table), {})
    expected = expected_score(network, table, posteriors_of_rows(network, table), "Y", ["X"])
    assert families.score("Y", frozenset("X")) == pytest.approx(expected, abs=1e-9)


def test_where_posteriors_are_exact():
    network, table = make("X[2] -> Y[2], A, B; Y -> Z[2], C; Z -> D, A")
    families = ExpectedFamilies(network, PatternedData(table), {})
    assert families.is_exact("XAB")
    assert families.is_exact("XY")  # a link
    assert families.is_exact("XZ")  # both above A
    assert not families.is_exact("XYZ")


def test_families_of_columns_are_kept():
    network, table = make(TEXTS[0])
    known = {}
    families = ExpectedFamilies(network, PatternedData(table), known)
    families.score("A", frozenset("B"))
    families.score("A", frozenset("X"))
    assert set(known) == {("A", frozenset("B"))}


def test_a_family_that_is_too_large_is_out_of_the_question():
    columns = [Variable(f"c{i}", tuple(map(str, range(50)))) for i in range(6)]
    structure = read_structure("X[2] -> c0, c1, c2, c3, c4, c5", columns)
    network = fill_randomly(structure, 0)
    table = PatternedData(network.sample(5, random_state=0))
    families = ExpectedFamilies(network, table, {})
    assert families.score("c0", frozenset(f"c{i}" for i in range(1, 6))) == -np.inf


def climb(name="coleman-panel", text="X[2] -> A, B, C, D", **rules):
    data = datasets.load(name)
    model = fit(text, data, random_state=0)
    data, penalty = PatternedData(data), 0.5 * np.log(data.total_weight)
    families = ExpectedFamilies(model.network_, data, {})
    old = Draft.of(model.network_.structure)
    return data, model, old, climb_links(old, GlcRules(**rules), families, penalty), families


@pytest.mark.parametrize("name", ["coleman-panel", "house-building"])
def test_the_expected_gain_is_a_lower_bound(name):
    data, model, old, new, families = climb(name)
    assert new.links != old.links
    penalty = 0.5 * np.log(data.total_weight)
    gain = estimate_gain(new, old, families, penalty)
    network = model.network_
    fitted, value = Fitter(data, 0).fit(
        new.build(network.variables[1:]), network, FitEffort(8, 2, EMSettings(2000, 1e-10))
    )
    assert gain > 1
    assert value - penalty * fitted.dimension >= model.bic_ + gain - 1e-3


def test_no_single_change_is_left():
    data, _, _, new, families = climb()
    penalty = 0.5 * np.log(data.total_weight)
    for child in new.columns:
        for parent in new.list_possible_parents(child):
            changed = new.rewired({child: new.parents[child] ^ {parent}})
            if changed.is_acyclic() and GlcRules().allow(changed):
                assert estimate_gain(changed, new, families, penalty) <= 0.011


def test_rules_are_kept():
    _, _, _, new, _ = climb(attached=True, forbidden=frozenset({("B", "D"), ("D", "B")}))
    assert all("X" in new.parents[name] for name in new.columns)
    assert not {("B", "D"), ("D", "B")} & new.links
