"""Restricted likelihood from its definition: EM on a whole network that updates some tables."""

import math

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.kernels.regions.star_starts import start_star
from latentforest.model import Network, Structure
from reference.enumeration import trees_of
from reference.expectation_maximization import em_step, objective_of, run_em


def enumerate_latents(network, dataset):
    """Return log P(row), summing over all joint states of the latent variables of each tree."""
    rows = np.zeros(dataset.n_rows)
    for names in trees_of(network.structure):
        latents = [name for name in names if name in network.latents]
        joint = np.ones((dataset.n_rows, *(network.structure.shape(z)[-1] for z in latents)))
        for name in names:
            table = network.cpd(name)
            if name not in latents:
                table = np.concatenate([table, np.ones((*table.shape[:-1], 1))], axis=-1)
                table = np.moveaxis(table[..., dataset.column(name)], -1, 0)
                axes = [0, *(1 + latents.index(z) for z in network.structure.parents(name))]
            else:
                family = (*network.structure.parents(name), name)
                axes = [1 + latents.index(z) for z in family]
            shape = np.ones(joint.ndim, int)
            shape[axes] = table.shape
            joint = joint * table.transpose(np.argsort(axes)).reshape(shape)
        with np.errstate(divide="ignore"):
            rows += np.log(joint.reshape(dataset.n_rows, -1).sum(axis=1))
    return rows


def measure(network, dataset):
    """Log-likelihood of a table; rows without weight do not count."""
    used = dataset.weights > 0
    return float(dataset.weights[used] @ enumerate_latents(network, dataset)[used])


def put_tables(network, tables):
    """Return the network with other tables for some variables."""
    flat = np.array(network.parameters)
    for name, table in tables.items():
        network.structure.table_view(flat, name)[...] = table
    return network.with_parameters(flat)


def list_starts(fit):
    """Tables of all starts of a fit of SI or SD, as its kernel makes them."""
    messages, (candidate,) = fit.messages, fit.candidates
    hub, card = candidate.hub, candidate.card
    task = fit.tasks.common._replace(arm=-1, marks=fit.tasks.marks[0])
    starts = []
    for row in start_star(messages.arms, messages.values, task):
        tables, taken = {hub: row[:card]}, card
        for z in messages.neighbours(hub):
            size = card * messages.card(z)
            tables[z] = row[taken : taken + size].reshape(card, -1)
            taken += size
        assert taken == len(row)
        starts.append(tables)
    return starts


def climb_restricted(network, dataset, free, n_iterations):
    """Run EM on the free tables of a network, from the parameters it has."""
    prior = np.zeros(network.structure.n_values)
    theta = np.array(network.parameters)
    return network.with_parameters(
        run_em(network.structure, theta, dataset, prior, n_iterations, free)
    )


def climb_restricted_pyramid(networks, dataset, free, n_iterations):
    """Run EM on the free tables from several starts; halve them at levels of 2, 3, 5, …"""
    structure = networks[0].structure
    prior = np.zeros(structure.n_values)
    thetas, n_next, n_done = [np.array(each.parameters) for each in networks], 1, 0
    while len(thetas) > 1:
        judged = []
        for theta in thetas:
            theta = run_em(structure, theta, dataset, prior, n_next, free)
            value = objective_of(structure, theta, dataset, prior)
            judged.append((value, em_step(structure, theta, dataset, prior, free)))
        judged.sort(key=lambda pair: -pair[0])
        thetas = [theta for _, theta in judged[: math.ceil(len(judged) / 2)]]
        n_done += n_next + 1
        n_next *= 2
    n_left = max(n_iterations - n_done, 1)
    return networks[0].with_parameters(run_em(structure, thetas[0], dataset, prior, n_left, free))


def draw_latent_tree(seed, n_latents, latent_states=(2, 3, 4), states=(2, 3, 4), n_more=2):
    """Draw a regular tree of latent variables with observed leaves, rooted anywhere.

    Latent variables are tied at random; each gets leaves until it is regular, then up to
    ``n_more``.
    """
    rng = np.random.default_rng(seed)
    cards = {f"Y{i}": int(rng.choice(latent_states)) for i in range(1, n_latents + 1)}
    latents, parents = list(cards), {}
    for i, name in enumerate(latents[1:], start=1):
        parents[name] = latents[rng.integers(i)]
    leaves = []
    for latent in latents:
        around = [cards[z] for z in latents if parents.get(z) == latent or z == parents.get(latent)]
        has_latent, n_wanted = bool(around), int(rng.integers(n_more + 1))
        while n_wanted > 0 or not is_regular(cards[latent], around, has_latent):
            name = f"X{len(leaves) + 1}"
            leaves.append(name)
            cards[name] = int(rng.choice(states))
            parents[name] = latent
            around.append(cards[name])
            n_wanted -= 1
    variables = [Variable.hidden(name, cards[name]) for name in latents]
    variables += [Variable(name, tuple("abcdefghijkl"[: cards[name]])) for name in leaves]
    return draw_tables(Structure(variables, parents), rng).rooted_at(str(rng.choice(latents)))


def is_regular(card, around, has_latent):
    """Zhang's definition: |Y| <= Π|Z| / max|Z|; of two neighbours one is latent, and < holds."""
    if len(around) < 2 or (len(around) == 2 and not has_latent):
        return False
    bound = math.prod(around) / max(around)
    return card < bound if len(around) == 2 else card <= bound


def draw_tables(structure, rng, concentration=0.7):
    """Give a structure random tables."""
    tables = {}
    for name in structure.names:
        *above, card = structure.shape(name)
        drawn = rng.dirichlet(np.full(card, concentration), above) + 1e-3
        tables[name] = drawn / drawn.sum(axis=-1, keepdims=True)
    parents = {name: structure.parents(name) for name in structure.names}
    return Network.from_tables(structure.variables, parents, tables)


def draw_rows(network, n_rows, seed, missing=0.1, weights=(0.5, 1.0, 2.0)):
    """Draw rows of a network, some of their values missing, with weights."""
    rng = np.random.default_rng(seed)
    drawn = network.sample(n_rows, random_state=rng)
    columns = []
    for column in drawn.columns:
        codes = np.array(column)
        codes[rng.random(n_rows) < missing] = -1
        columns.append(codes)
    return Dataset(drawn.variables, columns, rng.choice(weights, n_rows))
