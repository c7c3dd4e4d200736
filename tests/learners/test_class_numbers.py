"""The states of latent variables are named 1, 2, … by every learner; codes count from 0."""

import numpy as np
import pytest

import latentforest as lf

LEARNERS = [
    lf.LatentClass(2, random_state=0),
    lf.EAST(random_state=0, max_steps=3),
    lf.BridgedIslands(random_state=0),
    lf.HierarchicalLatentTree(random_state=0),
    lf.BinaryForest(random_state=0),
    lf.IncrementalForest(random_state=0),
    lf.RecursiveGrouping(random_state=0),
    lf.GeneralizedLatentClass(random_state=0, max_steps=2),
    lf.StructuralEM(latents={"H": 3}, random_state=0, max_steps=2),
    lf.ConfirmatoryModel("X[2] -> A, B; X -> C, D", random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_names_count_from_one(learner):
    structure = learner.fit(lf.datasets.load("hiv-tests")).network_.structure
    for name in structure.latents:
        n_states = structure.variable(name).n_states
        assert structure.states(name) == tuple(str(k) for k in range(1, n_states + 1))


def test_codes_count_from_zero():
    data = lf.datasets.load("hiv-tests")
    model = lf.LatentClass(2, random_state=0).fit(data)
    codes, explained = model.predict(data), lf.Predictor(model.network_).explain(data)
    assert set(codes.tolist()) == {0, 1}
    assert model.get_feature_names_out().tolist() == ["class=1", "class=2"]
    best = np.array(["1", "2"])[codes]
    assert explained.decode("class").tolist() == best.tolist()
    for row in range(3):
        case = {name: data.decode(name)[row] for name in data.names}
        assert model.network_.most_probable(case)["class"] == best[row]
        given = [model.network_.log_probability({**case, "class": k}) for k in (1, 2)]
        assert int(np.argmax(given)) == codes[row]
