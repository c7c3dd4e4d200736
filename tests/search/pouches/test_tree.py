"""The view of a latent tree with pouches."""

import pytest

from latentforest.search.pouches.tree import PouchTree
from reference.pouch_candidates import as_sets
from reference.pouch_networks import SHAPES, make_pouch_structure


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_the_view_has_the_dimension_of_the_structure(kind):
    structure = make_pouch_structure(kind)
    tree = PouchTree.of(structure)
    assert tree.dimension == structure.dimension
    for name in tree.cards:
        again = tree.structure(name)
        assert again.dimension == structure.dimension
        assert as_sets(PouchTree.of(again)) == as_sets(tree)
