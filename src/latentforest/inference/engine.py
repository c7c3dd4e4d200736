"""The engines that stand behind every fit, score and prediction, as their users see them.

An engine is one structure laid out over one table. It takes parameters as a flat vector and gives
likelihoods, expected counts and posteriors. Everything outside of ``inference`` that is not about
forests in particular goes through ``make_engine`` and sees the protocol only.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from latentforest.inference.blocks import GaussianBlock
from latentforest.inference.forest import Forest, PatternedData, fits_forest
from latentforest.inference.junction.junction_tree import JunctionTree
from latentforest.kernels.loop import Method, Run
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure


class Ties(NamedTuple):
    """Continuous variables with tied variances: see ``make_engine``."""

    shared: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()


NO_TIES = Ties()


class Engine(Protocol):
    """A structure over a table: likelihoods, counts and posteriors for any parameters.

    Attributes
    ----------
    kind
        Which engine it is, in words.
    structure, data
        The structure and the table.
    free
        Variables whose families are estimated.
    n_values, n_counts
        Lengths of the vectors of parameters and of counts.
    is_variational
        Whether vectors are potentials of a posterior, not parameters.
    cost
        About how many numbers an iteration of EM touches.
    shared, equal
        Continuous variables with tied variances: see ``make_engine``.
    blocks
        Continuous variables that depend on each other.
    is_one_call
        Whether EM can run in one compiled call (``climb``).
    """

    kind: str
    structure: Structure
    data: PatternedData
    free: list[str]
    n_counts: int
    is_variational: bool
    shared: frozenset[str]
    equal: frozenset[str]

    @property
    def n_values(self) -> int: ...

    @property
    def cost(self) -> int: ...

    @property
    def blocks(self) -> list[GaussianBlock]: ...

    @property
    def is_one_call(self) -> bool: ...

    def place_sums(self) -> tuple[dict[str, int], int]:
        """Places of the sums of continuous variables in a vector of counts, and its length."""

    def expected_counts(self, theta: FloatArray, counts: FloatArray) -> tuple[float, float]:
        """Fill the expected counts of all rows, in the layout of the parameters.

        Returns the log-likelihood of the rows of positive probability, and the weight of the
        others.
        """

    def log_likelihood(self, theta: FloatArray) -> tuple[float, float]:
        """Log-likelihood of the rows of positive probability, and the weight of the others."""

    def row_log_likelihoods(self, theta: FloatArray) -> FloatArray:
        """Log-likelihood of each row of the table; minus infinity for probability zero."""

    def posteriors(self, theta: FloatArray, names: Sequence[str]) -> list[FloatArray]:
        """``P(variable | row)`` of some categorical variables, ``nan`` for impossible rows."""

    def family_posteriors(self, theta: FloatArray, names: Sequence[str]) -> list[FloatArray]:
        """``P(parents, variable | row)``, an axis for the rows and for each variable."""

    def climb(
        self, method: Method, potentials: FloatArray, run: Run
    ) -> tuple[int, float, bool, bool]:
        """Run the compiled loop (``kernels.loop``); tells whether messages were scaled, too."""


def make_engine(
    structure: Structure,
    data: PatternedData,
    free: Collection[str] | None = None,
    shared: Collection[str] = (),
    equal: Collection[str] = (),
    is_variational: bool = False,
) -> Engine:
    """Lay a structure out over a table, behind the engine that fits it.

    Parameters
    ----------
    structure
        Its observed variables are columns of the table with the same states.
    data
        The table.
    free
        Variables whose families are estimated; default all.
    shared
        Continuous variables whose variances, and covariances in a pouch, are the same for all
        states of the parent.
    equal
        Gaussian leaves of one variable that have the same variance as each other.
    is_variational
        Whether vectors are potentials of a posterior, not parameters.
    """
    if not fits_forest(structure):
        return JunctionTree(structure, data, free, is_variational)
    return Forest(structure, data, free, shared=shared, equal=equal, is_variational=is_variational)
