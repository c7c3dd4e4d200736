"""What the rows say to latent variables with pouches."""

import numpy as np
import pytest

from latentforest.inference.forest import Forest, PatternedData
from latentforest.search.pouches.evidence import Evidence
from reference.pouch_networks import SHAPES, draw_pouch_network, draw_rows


@pytest.fixture(scope="module", params=sorted(SHAPES))
def case(request):
    network = draw_pouch_network(request.param, seed=3)
    data = PatternedData(draw_rows(network))
    return network, data, Evidence(network, data)


def test_posteriors_are_those_of_the_engine(case):
    network, data, evidence = case
    forest = Forest(network.structure, data)
    for name in network.latents:
        (expected,) = forest.posteriors(network.parameters, [name])
        np.testing.assert_allclose(evidence.posteriors[name], expected, atol=1e-9)


def test_evidence_from_everywhere_is_the_likelihood(case):
    network, data, evidence = case
    for name in network.latents:
        rooted = network.rooted_at(name)
        rests = evidence.send_up(rooted, evidence.tree, name, ())
        logs = rests[name] + np.log(rooted.cpd(name))
        total = data.dataset.weights @ np.logaddexp.reduce(logs, axis=1)
        expected, _ = Forest(network.structure, data).log_likelihood(network.parameters)
        assert total == pytest.approx(expected, rel=1e-9)
