"""Double hill climbing: structures, and states of each."""

from __future__ import annotations

import pytest

from latentforest import DoubleHillClimbing, datasets
from latentforest.datasets.generate import random_latent_class
from latentforest.errors import ParameterError
from latentforest.ties import sort_best_first

HIV = datasets.load("hiv-tests")


def test_the_inner_hill_climbing_finds_the_number_of_states():
    network = random_latent_class(6, 3, n_states=3, strength=0.8, random_state=1)
    model = DoubleHillClimbing(random_state=0).fit(network.sample(1000, random_state=1))
    (latent,) = model.network_.latents
    assert model.network_.structure.shape(latent) == (3,)
    assert model.history_["phase"][1] == "states"


@pytest.mark.parametrize("n_structures", [1, 3, None])
def test_structures_that_are_fitted(n_structures):
    model = DoubleHillClimbing(n_structures, random_state=0).fit(HIV)
    steps = {}
    for row in model.history_.rows():
        if row["phase"] == "structure":
            steps.setdefault(row["step"], []).append(row)
    assert steps
    for rows in steps.values():
        n_candidates = rows[0]["candidates"]
        expected = n_candidates if n_structures is None else min(n_structures, n_candidates)
        assert len(rows) == expected
        assert sort_best_first([row["bic"] for row in rows]) == list(range(expected))


@pytest.mark.parametrize("n_structures", [0, 1.5, "all"])
def test_structures_are_counted(n_structures):
    with pytest.raises(ParameterError, match="n_structures must be a whole number from 1 or None"):
        DoubleHillClimbing(n_structures).fit(HIV)
