"""Expected counts of completed rows, against completing them one by one."""

import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.inference.forest import PatternedData
from latentforest.inference.messages import Messages
from latentforest.model import Network
from latentforest.search.trees.completion.counts import Completion
from reference import completion as oracle
from reference.completion_cases import NETWORKS, Case, close


@pytest.fixture(scope="module", params=[0.0, 0.2], ids=["complete", "missing"])
def missing_rate(request):
    return request.param


@pytest.fixture(scope="module", params=NETWORKS)
def case(request, missing_rate):
    return Case(NETWORKS[request.param], 150, missing_rate)


def test_pairs_are_counted_anywhere_in_the_tree(case):
    tree = case.model.tree
    wanted = [
        (hub, z, target)
        for hub in tree.latents
        for z in tree.neighbours[hub]
        for target in tree.side_of(hub, z)
    ]
    counts = Completion(case.model.messages).count_pairs(wanted)
    assert set(counts) == set(wanted)
    for (_, z, target), table in counts.items():
        expected = oracle.count(case.completed, case.names, (z, target))
        np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-9)


def test_some_pairs_are_the_same_as_all(case):
    tree, completion = case.model.tree, Completion(case.model.messages)
    for hub in tree.latents:
        z = tree.neighbours[hub][-1]
        target = sorted(tree.side_of(hub, z))[-1]
        table = completion.count_pairs([(hub, z, target)])[hub, z, target]
        expected = oracle.count(case.completed, case.names, (z, target))
        np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-9)


def test_triples_are_counted_around_every_hub(case):
    completion = Completion(case.model.messages)
    for hub in case.network.latents:
        around = case.model.messages.neighbours(hub)
        for i, left in enumerate(around[:-1]):
            counts = completion.count_triples(hub, left)
            for table, right in zip(counts, around[i + 1 :], strict=True):
                expected = case.triple(hub, left, right)
                found = table[:, : expected.shape[1]]
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
                assert not table[:, expected.shape[1] :].any()


def test_dependence_of_neighbours_is_measured(case):
    measures = Completion(case.model.messages).measure_dependence(case.network.latents)
    for hub in case.network.latents:
        assert list(measures[hub]) == case.pairs_of(hub)
        for (left, right), (g2, divergence) in measures[hub].items():
            counts = case.triple(hub, left, right)
            model = case.model_joint((left, right))
            assert g2 == close(oracle.g2(counts))
            assert divergence == close(oracle.divergence(counts.sum(axis=2), model))


def test_rows_that_the_model_rules_out_count_nothing():
    sure = np.eye(2)
    hidden, leaves = Variable.hidden("Y", 2), [Variable(f"X{i}", "ab") for i in range(3)]
    tables = {"Y": [0.5, 0.5], "X0": sure, "X1": sure, "X2": [[0.7, 0.3], [0.2, 0.8]]}
    network = Network.from_tables([hidden, *leaves], dict.fromkeys(("X0", "X1", "X2"), "Y"), tables)
    dataset = Dataset(leaves, [[0, 0, 1], [0, 1, 1], [1, 0, -1]], [1.0, 2.0, 4.0])
    completion = Completion(Messages(network, PatternedData(dataset)))
    completed = oracle.complete(network, dataset)
    for leaf in leaves:
        place = "Y", leaf.name, "Y"
        expected = oracle.count(completed, network.names, (leaf.name, "Y"))
        np.testing.assert_allclose(completion.count_pairs([place])[place], expected, rtol=1e-12)
    assert completed.sum() == 5.0
