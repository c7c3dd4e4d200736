"""Expected BIC (the lecture's Q) of structures, by enumeration of completions."""

import numpy as np

from reference.posterior_completions import complete_by_enumeration


def expected_bic(structure, network, table):
    """Return max over parameters of Q(S, θ | network), counted cell by cell."""
    completed = complete_by_enumeration(network, table)
    place = {name: j for j, name in enumerate(network.names)}
    total = 0.0
    for name in structure.names:
        family = [*structure.parents(name), name]
        counts = np.zeros([len(structure.states(each)) for each in family])
        for codes, weight in completed.items():
            counts[tuple(codes[place[each]] for each in family)] += weight
        sums = np.broadcast_to(counts.sum(axis=-1, keepdims=True), counts.shape)
        some = counts > 0
        total += float(counts[some] @ np.log(counts[some] / sums[some]))
    return total - 0.5 * structure.dimension * np.log(table.total_weight)
