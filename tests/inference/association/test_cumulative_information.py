"""What columns tell together: posteriors in a tree against those of the engine."""

import numpy as np
import pytest

import latentforest as lf
from latentforest.inference.association.cumulative_information import SampledInformation, _Known
from latentforest.inference.association.pair_tables import make_pair_tables
from reference.mixed_networks import draw_mixed
from reference.random_networks import fill_randomly

N_ROWS = 200


def make_forest():
    """A latent tree in which a column stands between two latent variables."""
    variables = [lf.Variable.hidden("Y1", 2), lf.Variable.hidden("Y2", 3)]
    variables += [lf.Variable(name, ("0", "1", "2")) for name in "abcd"]
    parents = {"a": "Y1", "b": "Y1", "Y2": "b", "c": "Y2", "d": "Y2"}
    return fill_randomly(lf.Structure(variables, parents), 1, share_of_zeros=0.0)


def make_pouches():
    variables = [lf.Variable.hidden("Y1", 2), lf.Variable.hidden("Y2", 3)]
    variables += [lf.Variable(name) for name in "uvw"] + [lf.Variable("k", ("0", "1"))]
    parents = {"Y2": "Y1", "u": "Y1", "v": "Y1", "w": "Y2", "k": "Y2"}
    return draw_mixed(lf.Structure(variables, parents, [("u", "v")]), 6)


@pytest.mark.parametrize("make", [make_forest, make_pouches])
@pytest.mark.parametrize("latent", ["Y1", "Y2"])
def test_posteriors_given_some_columns(make, latent):
    network = make()
    sample = SampledInformation(network, make_pair_tables(network), N_ROWS)
    known, names = _Known(sample, latent), network.observed
    for k, name in enumerate(names):
        expected = sample._judge(latent, names[: k + 1])
        assert np.abs(known.add(name) - expected).max() < 1e-9


def test_all_columns_are_what_is_told_by_all():
    network = make_forest()
    sample = SampledInformation(network, make_pair_tables(network), N_ROWS)
    told = sample.accumulate("Y1", network.observed)
    assert told[-1] == pytest.approx(sample.told_by_all(["Y1"])[0], rel=1e-9)
    assert (np.diff(told) >= 0).all()


def test_a_network_that_is_no_tree():
    variables = [lf.Variable.hidden("H", 2), *(lf.Variable(n, ("0", "1")) for n in "abc")]
    structure = lf.Structure(variables, {"a": "H", "b": ("H", "a"), "c": "b"})
    network = fill_randomly(structure, 5, share_of_zeros=0.0)
    sample = SampledInformation(network, make_pair_tables(network), N_ROWS)
    told = sample.accumulate("H", ["b", "a", "c"])
    assert told[-1] == pytest.approx(sample.told_by_all(["H"])[0], rel=1e-9)
