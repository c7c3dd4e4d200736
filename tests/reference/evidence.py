"""Exact evidence of tiny models with latent variables, by enumeration of all their values."""

import itertools

import numpy as np
from scipy.special import gammaln, logsumexp


def dirichlet_evidence(prior, counts):
    """Log-probability of a sequence of states with these counts."""
    prior, counts = np.broadcast_arrays(prior, counts)
    value = gammaln(prior.sum(-1)) - gammaln((prior + counts).sum(-1))
    return float((value + (gammaln(prior + counts) - gammaln(prior)).sum(-1)).sum())


def normal_gamma_evidence(prior, x):
    """Log-density of some values, one after another: each Student's t given those before."""
    from scipy.stats import t

    m, weight, a, b = prior
    total = 0.0
    for value in x:
        scale = np.sqrt(b / a * (1 + 1 / weight))
        total += t.logpdf(value, 2 * a, m, scale)
        b += 0.5 * weight / (weight + 1) * (value - m) ** 2
        m = (weight * m + value) / (weight + 1)
        weight, a = weight + 1, a + 0.5
    return float(total)


def latent_class_evidence(columns, cards, priors, n_states, latent_prior, gaussians=()):
    """Log evidence of a latent class model over a few rows.

    ``columns`` are codes, with the prior of a row of each table; ``gaussians`` are pairs of values
    and Normal-Gamma parameters.
    """
    n_rows = len(columns[0]) if columns else len(gaussians[0][0])
    logs = []
    for states in itertools.product(range(n_states), repeat=n_rows):
        z = np.array(states)
        value = dirichlet_evidence(latent_prior, np.bincount(z, minlength=n_states))
        for codes, card, prior in zip(columns, cards, priors, strict=True):
            for k in range(n_states):
                value += dirichlet_evidence(prior, np.bincount(codes[z == k], minlength=card))
        for x, prior in gaussians:
            for k in range(n_states):
                value += normal_gamma_evidence(prior, x[z == k])
        logs.append(value)
    return float(logsumexp(logs))


def closed_evidence(structure, prior, counts):
    """Log evidence of complete data with these counts, table by table."""
    return sum(
        dirichlet_evidence(structure.table_view(prior, n), structure.table_view(counts, n))
        for n in structure.names
    )


def complete_row(structure, table, row):
    """Counts of the row with every way to fill its open cells."""
    choices = []
    for name in structure.names:
        n_states = structure.shape(name)[-1]
        code = -1 if name in structure.latents else int(table.column(name)[row])
        choices.append(range(n_states) if code < 0 else [code])
    for codes in itertools.product(*choices):
        filled, counts = (
            dict(zip(structure.names, codes, strict=True)),
            np.zeros(structure.n_values),
        )
        for name in structure.names:
            family = tuple(filled[each] for each in (*structure.parents(name), name))
            structure.table_view(counts, name)[family] += 1
        yield counts


def network_evidence(structure, prior, table):
    """Log evidence of a categorical network over a few rows, weights are numbers of copies.

    All completions of all rows; those with equal counts are added up as they are found.
    """
    ways = {(0.0,) * structure.n_values: 1}
    for row, weight in enumerate(table.weights):
        options = list(complete_row(structure, table, row))
        for _ in range(int(weight)):
            found = {}
            for counts, n in ways.items():
                for option in options:
                    key = tuple(np.array(counts) + option)
                    found[key] = found.get(key, 0) + n
            ways = found
    logs = [closed_evidence(structure, prior, np.array(c)) + np.log(n) for c, n in ways.items()]
    return float(logsumexp(logs))
