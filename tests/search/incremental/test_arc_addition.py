"""AA: arcs between roots."""

import pytest

from latentforest.estimation.bayes.posterior_vector import pack_priors
from latentforest.search.incremental.arc_addition import add_arc, is_allowed
from latentforest.search.incremental.tree import (
    fit_tree,
    make_single_tree,
)
from reference.growth import make_context, make_table


def test_an_arc_between_complete_columns_is_the_same_in_closed_form_and_by_vbem():
    context = make_context(make_table())
    for a, b in (("c0", "c2"), ("c0", "x0")):
        candidate = add_arc(
            context, make_single_tree(context, a).top, make_single_tree(context, b).top
        )
        tree = fit_tree(context, candidate.structure, candidate.posterior, {})
        assert tree.bound == pytest.approx(candidate.bound, abs=1e-8)
        start = pack_priors(candidate.structure, context.priors)
        again = fit_tree(context, candidate.structure, start, {})
        assert again.bound == pytest.approx(candidate.bound, abs=1e-8)


def test_arcs_go_where_they_may():
    context = make_context(make_table(missing=0.1))
    tops = {name: make_single_tree(context, name).top for name in context.table.names}
    assert is_allowed(context, tops["c0"], tops["x0"])
    assert not is_allowed(context, tops["x0"], tops["c0"])
    assert is_allowed(context, tops["x0"], tops["x1"])
