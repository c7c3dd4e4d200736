"""Restricted likelihood around continuous leaves, against EM on the whole network."""

import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings
from latentforest.estimation.starts import random_starts
from latentforest.inference.forest import PatternedData
from latentforest.model import Network, Structure
from latentforest.search.regularity import find_irregular
from latentforest.search.tables import soften
from latentforest.search.trees import restricted as restricted_module
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.model import Model, fit_fully
from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.restricted import evaluate_restricted, fit_slowly
from latentforest.search.trees.tree import Rules
from reference.operators import OPERATORS
from reference.restricted import climb_restricted_pyramid, list_starts, put_tables
from reference.restricted_mixed import (
    climb_mixed,
    draw_mixed_rows,
    draw_mixed_tree,
    enumerate_joint,
    measure_mixed,
    step_mixed,
)

SEEDS = range(8)


def make_model(network, dataset):
    return Model(network, measure_mixed(network, dataset), PatternedData(dataset))


def draw_model(seed, n_rows=40, share=0.6, digits=None):
    """One to four latent variables; values are missing; weights are below and above one."""
    network = draw_mixed_tree(seed, 1 + seed % 4, share=1.0 if seed % 3 == 2 else share)
    return make_model(network, draw_mixed_rows(network, n_rows, seed, digits=digits))


def propose(model, operators=OPERATORS):
    rules = Rules(any_mediator=True)
    return [candidate for each in operators for candidate in each.propose(model.tree, rules)]


@pytest.fixture
def evaluate(monkeypatch):
    """Evaluates candidates; the slow way must not be taken."""

    def run(model, candidates, mu=3, nu=5):
        return evaluate_restricted(
            model, candidates, LocalEffort(mu, nu, 0), lambda proposals: None
        )

    def refuse(*_):
        raise AssertionError("the slow way was taken")

    monkeypatch.setattr(restricted_module, "fit_slowly", refuse)
    return run


def assert_exact(model, proposals):
    for proposal in proposals:
        exact = measure_mixed(proposal.realise(model.network), model.data.dataset)
        assert proposal.log_likelihood == pytest.approx(exact, rel=1e-9), proposal.candidate


def test_the_random_trees_have_candidates_of_every_kind():
    candidates = [each for seed in SEEDS for each in propose(draw_model(seed, n_rows=2))]
    assert {each.operator for each in candidates} == {"NI", "SI", "NR", "SD", "ND"}
    assert {each.is_upper for each in candidates if each.operator == "NI"} == {False, True}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_likelihood_is_that_of_the_tables_found(seed, evaluate):
    model = draw_model(seed)
    assert_exact(model, evaluate(model, propose(model)))


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_equal_values_are_one_pattern(seed, evaluate):
    model = draw_model(seed, digits=0)
    assert_exact(model, evaluate(model, propose(model)))


@pytest.mark.parametrize("seed", SEEDS)
def test_changes_of_the_dimension_and_regularity(seed):
    model = draw_model(seed, n_rows=2)
    for candidate in propose(model):
        edited = candidate.edit(model.network)
        assert candidate.change == edited.dimension - model.network.dimension, candidate
        assert not find_irregular(edited.structure), candidate


def start_of(candidate, network):
    """The edited network with the tables from which local EM with one start begins."""
    edited, numbers = candidate.edit(network), network.structure.continuous
    if candidate.operator == "NR":
        table = edited.cpd(candidate.moved)
        if candidate.moved not in numbers:
            table = 0.99 * table + 0.01 / table.shape[1]
        return put_tables(edited, {candidate.moved: table})
    if candidate.operator == "ND":
        categorical = [name for name in candidate.region if name not in numbers]
        return put_tables(edited, {name: soften(edited.cpd(name)) for name in categorical})
    rooted, card = network.rooted_at(candidate.hub), candidate.card
    copy, tables = np.eye(card), {}
    for z in (candidate.left, candidate.right):
        if z in edited.structure.children(candidate.name):
            table = rooted.cpd(z)
            tables[z] = table if z in numbers else soften(table)
    tables[candidate.name] = soften(copy)
    if candidate.is_upper:
        above = network.rooted_at(candidate.left).cpd(candidate.hub)
        tables[candidate.name], tables[candidate.hub] = soften(above @ copy), soften(copy)
    return put_tables(edited, tables)


@pytest.mark.parametrize("nu", [1, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_local_em_is_em_that_updates_the_region_only(seed, nu, evaluate):
    model = draw_model(seed)
    dataset, network = model.data.dataset, model.network
    candidates = propose(model, [NodeRelocation, NodeDeletion])
    candidates += [
        each
        for each in propose(model, [NodeIntroduction])
        if each.card == network.structure.shape(each.hub)[-1]
    ]
    for proposal in evaluate(model, candidates, mu=1, nu=nu):
        start = start_of(proposal.candidate, network)
        expected = climb_mixed(start, dataset, proposal.candidate.region, nu)
        found = proposal.realise(network).rooted_at(proposal.candidate.root)
        assert proposal.log_likelihood == pytest.approx(measure_mixed(expected, dataset), rel=1e-9)
        np.testing.assert_allclose(found.parameters, expected.parameters, rtol=1e-6, atol=1e-9)
        assert proposal.log_likelihood >= measure_mixed(start, dataset) - 1e-9


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_the_pyramid_of_states_is_that_of_em_on_the_whole_network(seed, monkeypatch):
    model = draw_model(seed)
    dataset, effort = model.data.dataset, LocalEffort(2, 12, 0)
    monkeypatch.setattr("reference.restricted.run_em", _run)
    monkeypatch.setattr("reference.restricted.em_step", _step)
    monkeypatch.setattr("reference.restricted.objective_of", _measure)
    for operator in (StateIntroduction, StateDeletion):
        for fit in operator.plan_fits(model.messages, propose(model, [operator]), effort):
            fit.run()
            (proposal,) = fit
            edited = proposal.candidate.edit(model.network)
            networks = [put_tables(edited, tables) for tables in list_starts(fit)]
            expected = climb_restricted_pyramid(networks, dataset, proposal.candidate.region, 12)
            value = measure_mixed(expected, dataset)
            assert proposal.log_likelihood == pytest.approx(value, rel=1e-9)


def _run(structure, theta, dataset, prior, n_iterations, free):
    network = climb_mixed(Network(structure, theta), dataset, free, n_iterations)
    return np.array(network.parameters)


def _step(structure, theta, dataset, prior, free):
    return np.array(step_mixed(Network(structure, theta), dataset, free).parameters)


def _measure(structure, theta, dataset, prior):
    return measure_mixed(Network(structure, theta), dataset)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_full_em_ends_above_the_restricted_likelihood(seed, evaluate):
    model = draw_model(seed)
    for proposal in evaluate(model, propose(model)):
        fitted = fit_fully(proposal.realise(model.network), model.data, EMSettings(50, 1e-6))
        assert fitted.log_likelihood >= proposal.log_likelihood - 1e-7


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_the_slow_way_gives_exact_likelihoods_too(seed):
    model = draw_model(seed)
    assert_exact(model, [fit_slowly(model, each, LocalEffort(3, 5, 0)) for each in propose(model)])


@pytest.mark.parametrize("seed", [1, 5])
def test_from_the_current_model_expansions_only_gain(seed, evaluate):
    model = draw_model(seed, n_rows=80)
    fitted = fit_fully(model.network, model.data, EMSettings(3000, 1e-10))
    rules = Rules(any_mediator=False)
    candidates = [
        each
        for operator in (NodeIntroduction, StateIntroduction)
        for each in operator.propose(fitted.tree, rules)
    ]
    for proposal in evaluate(fitted, candidates, mu=8, nu=100):
        assert proposal.log_likelihood >= fitted.log_likelihood - 0.05


def test_other_units_shift_likelihoods_by_the_jacobian(evaluate):
    """Every candidate, not just the best, and with random starts."""
    model = draw_model(6)
    dataset, numbers = model.data.dataset, model.network.structure.continuous
    scale, shift = 1000.0, -3.0
    columns = [
        scale * column + shift if name in numbers else column
        for name, column in zip(dataset.names, dataset.columns, strict=True)
    ]
    tables = {name: model.network.cpd(name) * [scale, scale**2] + [shift, 0.0] for name in numbers}
    other = make_model(
        put_tables(model.network, tables), Dataset(dataset.variables, columns, dataset.weights)
    )
    jacobian = np.log(scale) * sum(
        float(dataset.weights @ ~np.isnan(dataset.column(name))) for name in numbers
    )
    candidates = propose(model)
    pairs = zip(evaluate(model, candidates), evaluate(other, candidates), strict=True)
    for one, two in pairs:
        assert two.log_likelihood + jacobian == pytest.approx(one.log_likelihood, rel=1e-7)


def test_posteriors_of_hubs_are_those_of_enumeration():
    model = draw_model(3)

    joint = enumerate_joint(model.network, model.data.dataset)
    for i, hub in enumerate(model.network.latents, start=1):
        rest = tuple(axis for axis in range(1, joint.ndim) if axis != i)
        expected = joint.sum(axis=rest)
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.messages.posterior(hub), expected, rtol=1e-9, atol=1e-12)


def test_a_column_is_not_taken_for_a_latent_variable_above_it(evaluate):
    """Both have the same columns behind them, but only numbers come together first."""
    numbers, letters = [f"c{i}" for i in range(4)], ["x0", "x1", "x2"]
    variables = [*map(Variable, numbers), *(Variable(name, ("0", "1")) for name in letters)]
    z, h, between = (Variable.hidden(name, 2) for name in ("Z", "H", "L"))
    above = {"H": "Z", **dict.fromkeys(letters, "Z"), **dict.fromkeys(numbers, "H")}
    one = Structure([*variables, z, h], above)
    other = Structure([*variables, z, h, between], {**above, "c3": "L", "L": "H"})
    truth = Network(one, random_starts(one, draw_table(variables), 1, 0)[0])
    dataset = draw_mixed_rows(truth, 60, 0)
    shared, values = PatternedData(dataset), []
    for structure, data in ((one, shared), (other, shared), (other, PatternedData(dataset))):
        network = Network(structure, random_starts(structure, dataset, 1, 0)[0])
        model = Model(network, measure_mixed(network, dataset), data)
        candidates = [c for c in propose(model, [StateIntroduction]) if c.hub == "H"]
        values.append(evaluate(model, candidates)[0].log_likelihood)
    assert values[1] == values[2]


def draw_table(variables):
    rng = np.random.default_rng(0)
    columns = [
        rng.normal(size=20) if each.states is None else rng.integers(0, 2, 20).astype(np.int8)
        for each in variables
    ]
    return Dataset(variables, columns)
