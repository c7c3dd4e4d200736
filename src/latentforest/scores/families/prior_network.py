"""BDe: the marginal likelihood under a prior that is worth some observations of a given network.

The prior count of a cell is the equivalent sample size times its *joint* probability under the
prior network (Heckerman, Geiger and Chickering 1995). So it is the same whichever variable of the
cell's family is the child, and equivalent networks have the same score. Prior counts from
conditional probabilities, which are also in print, do not have this property.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from latentforest.data import Dataset
from latentforest.data.values import StateFinder
from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable, JointCounts, list_bits
from latentforest.inference.forest import PatternedData
from latentforest.inference.patterns import Mask
from latentforest.inference.rows import Rows
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.network import Network
from latentforest.model.questions.elimination import compute_joint
from latentforest.scores.families.set_score import SetScore

MOST_CELLS = float(1 << 16)  # of a joint distribution that is computed as a whole


class PriorNetworkScore(SetScore):
    """Log marginal likelihood under the prior of a network.

    Parameters
    ----------
    table
        What is counted.
    network
        Has all columns of the table and their states.
    size
        Equivalent sample size: observations of the network that the prior is worth.

    Examples
    --------
    >>> from latentforest import Independence, datasets
    >>> data = datasets.load("role-conflict")
    >>> table, prior = CountingTable(data), Independence().fit(data).network_
    >>> score = PriorNetworkScore(table, prior, 2.0)
    >>> round(float(score.measure_additions(0b1, [1], 0)[0]), 2)
    692.43
    """

    def __init__(self, table: CountingTable, network: Network, size: float) -> None:
        super().__init__(table)
        self._network, self._size = network, size
        known = [network.structure.states(name) for name in table.names]
        self._codes = [  # of the network, for those of the table
            np.array([StateFinder(there).find(state) for state in here], dtype=np.intp)
            for here, there in zip(table.states, known, strict=True)
        ]

    def measure_additions(self, columns: Mask, added: Sequence[int], kind: int) -> FloatArray:
        """Return the values of a set together with each of some further columns."""
        return np.array([self._measure(columns | 1 << j) for j in added])

    def measure_empty(self, kind: int) -> float:
        """Return the value of the empty set, which has one configuration."""
        return self._sum(np.array([self._table.total]), np.ones(1))

    def measure(self, joints: JointCounts, kind: int) -> FloatArray:
        """Counts alone do not tell the value of a set."""
        raise TypeError("a prior network needs the states of cells, not only their counts")

    def _measure(self, columns: Mask) -> float:
        counts, codes = self._table.count_set(columns)
        return self._sum(counts, self._find_probabilities(list_bits(columns), codes))

    def _sum(self, counts: FloatArray, probabilities: FloatArray) -> float:
        prior = self._size * probabilities
        terms = gammaln(prior + counts) - gammaln(prior)
        return float(np.rint(terms * self.scale).sum() / self.scale)

    def _find_probabilities(self, columns: list[int], codes: LongArray) -> FloatArray:
        """Return the prior probability of each configuration."""
        table = self._table
        names = tuple(table.names[j] for j in columns)
        states = [self._codes[j][codes[:, i]] for i, j in enumerate(columns)]
        structure = self._network.structure
        if np.prod([structure.shape(name)[-1] for name in names], dtype=float) <= MOST_CELLS:
            joint = compute_joint(structure, self._network.parameters, names, {})
            found: FloatArray = joint[tuple(states)]
        else:
            found = np.exp(self._find_logarithms(names, states))
        if not (found > 0).all():
            raise ParameterError(
                f"prior_network gives probability zero to states of {', '.join(names)} that occur; "
                "expected a network in which they are possible"
            )
        return found

    def _find_logarithms(self, names: tuple[str, ...], states: list[LongArray]) -> FloatArray:
        """Ask the engine for rows in which all else is missing."""
        given = dict(zip(names, states, strict=True))
        missing = np.full(len(states[0]), -1)
        structure = self._network.structure
        variables = [structure.variable(name) for name in structure.observed]
        rows = Dataset(variables, [given.get(each.name, missing) for each in variables])
        return Rows(self._network, PatternedData(rows)).log_likelihoods()


def check_prior_network(network: Network, data: Dataset) -> None:
    """Refuse a prior network that does not have the columns of a table."""
    if not isinstance(network, Network):
        raise ParameterError(f"prior_network must be a Network, got {type(network).__name__}")
    for variable in data.variables:
        if variable.name not in network.observed:
            raise ParameterError(f"prior_network has no observed variable {variable.name!r}")
        states = network.structure.states(variable.name)
        finder = StateFinder(states)
        for state in variable.states or ():
            if finder.find(state) is None:
                raise ParameterError(
                    f"prior_network: variable {variable.name!r} has no state {state!r}; "
                    f"it has {', '.join(states)}"
                )
