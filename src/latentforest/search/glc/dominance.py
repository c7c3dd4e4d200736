"""Which of two models is at least as good: Definitions 3.1 to 3.3 of the paper.

Networks are compared by their distributions of the manifest variables, structures by the sets of
distributions that they can have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from latentforest.errors import ModelError
from latentforest.model.network import Network
from latentforest.model.structure import Structure

Floats = NDArray[np.float64]

MAX_CELLS = 1 << 20  # of the manifest variables, above which rows are sampled
MAX_JOINT = 1 << 14  # of all variables, for structures
N_ROWS = 200  # that are sampled from each of two networks
CLOSE = 1e-10  # difference of probabilities (of log-probabilities, for rows) that rounding may make
REACHED = 1e-7  # difference of probabilities at which a structure has reached a distribution
LEAST_SINGULAR = 1e-9  # singular value, relative to the largest, that counts for a rank
MAX_STEPS = 500  # of least squares, from each start
LEAST_DAMPING, LARGEST_DAMPING = 1e-13, 1e9  # of its steps


def marginally_equivalent(
    first: Network | Structure, second: Network | Structure, n_draws: int = 4, n_starts: int = 50
) -> bool:
    """Whether two networks, or two structures, give the same distributions of manifest variables.

    Two networks are compared in every cell of the table of all manifest variables, to 1e-10. If
    that table has more than a million cells or a variable is continuous, they are compared on 200
    rows sampled from each: differences in rows that are rarer than that may go unnoticed.

    Two structures are compared by what they can represent: see `includes`.

    Parameters
    ----------
    first, second
        Two networks or two structures over the same manifest variables.
    n_draws, n_starts
        For structures, as for `includes`.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> a, b = (Variable(name, ("no", "yes")) for name in "AB")
    >>> there, back = Structure([a, b], {"B": "A"}), Structure([a, b], {"A": "B"})
    >>> marginally_equivalent(there, back)
    True
    """
    _check_variables(first, second)
    if isinstance(first, Network) and isinstance(second, Network):
        return _are_equal(first, second)
    a, b = _take_structures(first, second)
    return includes(a, b, n_draws, n_starts) and includes(b, a, n_draws, n_starts)


def dominates(
    first: Network | Structure, second: Network | Structure, n_draws: int = 4, n_starts: int = 50
) -> bool:
    """Whether the first model can take the place of the second and has no more parameters.

    For networks, both have the same distribution of the manifest variables. For structures, the
    first can have every distribution that the second can: then its likelihood and BIC are never
    lower, whatever the data.

    Parameters
    ----------
    first, second
        Two networks or two structures over the same manifest variables.
    n_draws, n_starts
        For structures, as for `includes`.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> a, b = (Variable(name, ("no", "yes")) for name in "AB")
    >>> fork = Structure([Variable.hidden("X", 2), a, b], {"A": "X", "B": "X"})
    >>> link = Structure([a, b], {"B": "A"})
    >>> dominates(link, fork), dominates(fork, link)
    (True, False)
    """
    _check_variables(first, second)
    if first.dimension > second.dimension:
        return False
    if isinstance(first, Network) and isinstance(second, Network):
        return _are_equal(first, second)
    return includes(*_take_structures(first, second), n_draws, n_starts)


def includes(wide: Structure, narrow: Structure, n_draws: int = 4, n_starts: int = 50) -> bool:
    """Whether one structure can have every distribution that another can, judged by numbers.

    If the set of distributions of the narrow structure has more dimensions (rank of the Jacobian at
    random parameters), it is not included. Otherwise distributions are drawn from it, its tables
    uniform in the simplex, and the wide structure is fitted to each by least squares from random
    starts, until all probabilities agree to 1e-7. One that is not reached refutes inclusion, but
    for bad luck with all starts; if all are reached, distributions that are not could only be rare
    ones.

    Parameters
    ----------
    wide, narrow
        Categorical structures over the same manifest variables, of at most 16,384 joint states.
    n_draws
        Distributions that are drawn.
    n_starts
        Starts for each of them.
    """
    _check_variables(wide, narrow)
    models = _ManifestModel(wide), _ManifestModel(narrow, wide.observed)
    rng = np.random.default_rng(0)
    ranks = [max(model.find_rank(model.draw(rng)) for _ in range(3)) for model in models]
    if ranks[0] < ranks[1]:
        return False
    targets = [models[1].compute(models[1].draw(rng)) for _ in range(n_draws)]
    return all(_reaches(models[0], target, n_starts, rng) for target in targets)


def _reaches(
    model: _ManifestModel, target: Floats, n_starts: int, rng: np.random.Generator
) -> bool:
    return any(_climb(model, target, np.sqrt(model.draw(rng))) for _ in range(n_starts))


def _climb(model: _ManifestModel, target: Floats, roots: Floats) -> bool:
    """Whether least squares (Levenberg and Marquardt) leads from some parameters to a target."""
    gap, damping = model.compute(model.from_roots(roots)) - target, 1e-3
    for _ in range(MAX_STEPS):
        if np.abs(gap).max() <= REACHED:
            return True
        slopes = model.differentiate(roots)
        square, gradient = slopes.T @ slopes, slopes.T @ gap
        scale = np.trace(square) / len(square)
        while damping < LARGEST_DAMPING:
            step = np.linalg.solve(square + damping * scale * np.eye(len(square)), gradient)
            there = model.compute(model.from_roots(roots - step)) - target
            if there @ there < gap @ gap:
                break
            damping *= 8
        else:
            return False
        roots, gap, damping = roots - step, there, max(damping / 4, LEAST_DAMPING)
    return False


class _ManifestModel:
    """The distribution of the manifest variables as a function of a structure's parameters."""

    def __init__(self, structure: Structure, manifest: Sequence[str] | None = None) -> None:
        if structure.continuous:
            raise ModelError(
                f"only categorical structures can be compared; {structure.continuous[0]!r} is "
                "continuous (two networks can be)"
            )
        n_joint = math.prod(structure.shape(name)[-1] for name in structure.names)
        if n_joint > MAX_JOINT:
            raise ModelError(
                f"the structure has {n_joint:,} joint states; up to {MAX_JOINT:,} can be compared"
            )
        scope = (*(manifest or structure.observed), *structure.latents)
        cells = np.indices([structure.shape(name)[-1] for name in scope]).reshape(len(scope), -1)
        codes = dict(zip(scope, cells, strict=True))
        self._n_values = structure.n_values
        self._n_cells = math.prod(structure.shape(name)[-1] for name in structure.observed)
        # Which parameter of each family belongs to each joint state, latent states last.
        self._used = [_find_used(structure, name, codes) for name in structure.names]
        self._starts = np.concatenate([_find_rows(structure, name) for name in structure.names])
        self._lengths = np.diff(self._starts, append=self._n_values)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw parameters, each distribution uniformly from its simplex."""
        return self.from_roots(np.sqrt(rng.standard_exponential(self._n_values)))

    def compute(self, parameters: Floats) -> Floats:
        """Return the probabilities of the manifest variables' joint states."""
        joint = np.prod([parameters[used] for used in self._used], axis=0)
        return np.asarray(joint.reshape(self._n_cells, -1).sum(axis=1))

    def from_roots(self, roots: Floats) -> Floats:
        """Return the distributions in proportion to squares, which may well be zero."""
        squares = roots**2
        return np.asarray(squares / self._spread(np.add.reduceat(squares, self._starts)))

    def differentiate(self, roots: Floats) -> Floats:
        """Return the derivatives of the probabilities by the roots, a column for each."""
        parameters = self.from_roots(roots)
        slopes = self._differentiate_freely(parameters)
        means = np.add.reduceat(slopes * parameters, self._starts, axis=1)
        sums = self._spread(np.add.reduceat(roots**2, self._starts))
        return np.asarray((slopes - np.repeat(means, self._lengths, axis=1)) * (2 * roots / sums))

    def find_rank(self, parameters: Floats) -> int:
        """Return the rank of the derivatives: the dimension of the set of distributions here."""
        sizes = np.linalg.svd(self.differentiate(np.sqrt(parameters)), compute_uv=False)
        return int(np.count_nonzero(sizes > LEAST_SINGULAR * sizes[0])) if len(sizes) else 0

    def _spread(self, values: Floats) -> Floats:
        return np.repeat(values, self._lengths)

    def _differentiate_freely(self, parameters: Floats) -> Floats:
        """Return the derivatives by the parameters as if they need not sum to one."""
        factors = [parameters[used] for used in self._used]
        cells = np.repeat(np.arange(self._n_cells), len(factors[0]) // self._n_cells)
        slopes = np.zeros(self._n_cells * self._n_values)
        for i, used in enumerate(self._used):
            others = np.prod([np.ones_like(factors[0]), *factors[:i], *factors[i + 1 :]], axis=0)
            slopes += np.bincount(cells * self._n_values + used, others, len(slopes))
        return slopes.reshape(self._n_cells, self._n_values)


def _find_used(
    structure: Structure, name: str, codes: dict[str, NDArray[np.intp]]
) -> NDArray[np.intp]:
    family = [codes[each] for each in (*structure.parents(name), name)]
    places = np.ravel_multi_index(tuple(family), structure.shape(name))
    return np.asarray(structure.offset(name) + places, np.intp)


def _find_rows(structure: Structure, name: str) -> NDArray[np.intp]:
    """Return where the distributions of a table begin."""
    *rows, n_states = structure.shape(name)
    return structure.offset(name) + n_states * np.arange(math.prod(rows))


def _take_structures(
    first: Network | Structure, second: Network | Structure
) -> tuple[Structure, Structure]:
    if isinstance(first, Structure) and isinstance(second, Structure):
        return first, second
    raise ModelError("two networks can be compared, or two structures, not one with the other")


def _check_variables(first: Network | Structure, second: Network | Structure) -> None:
    """Refuse models of different manifest variables."""
    sides = [
        {each.name: each.states for each in model.variables if not each.latent}
        for model in (first, second)
    ]
    if sides[0] != sides[1]:
        differing = sorted(
            name for name in sides[0] | sides[1] if sides[0].get(name, 0) != sides[1].get(name, 0)
        )
        raise ModelError(
            f"the two models differ in their manifest variables or the states of these: {differing}"
        )


def _are_equal(first: Network, second: Network) -> bool:
    names = first.observed
    n_cells = math.prod(first.structure.shape(name)[-1] for name in names)
    if not first.structure.continuous and n_cells <= MAX_CELLS:
        return bool(np.abs(first.query(names) - second.query(names)).max() <= CLOSE)
    return all(_agree_on_rows(one, other) for one, other in ((first, second), (second, first)))


def _agree_on_rows(first: Network, second: Network) -> bool:
    """Whether two networks give the same probabilities to rows sampled from the first."""
    rows = first.sample(N_ROWS, random_state=0)
    for i in range(N_ROWS):
        row = {name: rows.decode(name)[i] for name in rows.names}
        a, b = first.log_probability(row), second.log_probability(row)
        if not abs(a - b) <= CLOSE * max(1.0, abs(a)):
            return False
    return True
