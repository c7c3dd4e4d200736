"""PO and UP: inverses, estimates."""

import numpy as np
import pytest

from latentforest.inference.forest import PatternedData
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.operators.pouching import Pouching, merge_pouches
from latentforest.search.pouches.operators.unpouching import Unpouching, split_pouch
from latentforest.search.pouches.tree import PouchTree
from reference.pouch_candidates import RULES, as_sets
from reference.pouch_networks import SHAPES, draw_pouch_network, draw_rows, make_pouch_structure


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_pouching_and_unpouching_are_inverses(kind):
    tree = PouchTree.of(make_pouch_structure(kind))
    for candidate in Pouching.propose(tree, RULES):
        (merged,) = candidate.limbs
        back = split_pouch(candidate.after, candidate.hub, merged, candidate.right)
        assert as_sets(back.after) == as_sets(tree)
        assert back.change == -candidate.change
    for candidate in Unpouching.propose(tree, RULES):
        back = merge_pouches(candidate.after, candidate.hub, *candidate.limbs)
        assert as_sets(back.after) == as_sets(tree)
        assert back.change == -candidate.change


def test_estimates_of_pouching_are_gains_of_completed_rows():
    network = draw_pouch_network("star", seed=1)
    data = PatternedData(draw_rows(network, 400, missing=0.0))
    evidence = Evidence(network, data)
    shares = evidence.posteriors["Y1"] * evidence.weights[:, None]
    for candidate in Pouching.propose(evidence.tree, RULES):
        if len(candidate.left) + len(candidate.right) > 2:
            continue
        x, y = (data.dataset.column(name) for name in candidate.limbs[0])
        expected = 0.0
        for weights in shares.T:
            r = np.cov(x, y, aweights=weights)
            expected -= 0.5 * weights.sum() * np.log(1 - r[0, 1] ** 2 / (r[0, 0] * r[1, 1]))
        assert candidate.estimate(evidence) == pytest.approx(expected, rel=0.1, abs=2.0)
