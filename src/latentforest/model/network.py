"""The network: a structure with its parameters, and the questions it answers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.errors import ModelError, ParameterError
from latentforest.model import drawing, elimination, graphs, sampling, transform
from latentforest.model.evidence import Evidence, read_evidence, read_targets
from latentforest.model.gaussian import Mixture
from latentforest.model.parameters import pack_tables, read_parameters
from latentforest.model.structure import Parents, Pouches, Structure

if TYPE_CHECKING:
    from latentforest.data.recipe import Recipe
    from latentforest.model.conjugate import Conjugate


class Network:
    """A Bayesian network over categorical variables, some of them latent, and continuous ones.

    A network never changes; what looks like an edit returns a new one.

    Parameters
    ----------
    structure
        The variables and their parents.
    parameters
        Probabilities, means and variances of all families in one vector of shape
        ``(structure.n_values,)``, laid out as ``structure`` says. They are stored exactly as given.
    n_tied
        How many of them were estimated to be equal to others, such as the variances of classes
        that share one. They do not count as free parameters.

    Examples
    --------
    >>> health = Variable.hidden("health", 2)
    >>> fever = Variable("fever", ("no", "yes"))
    >>> network = Network.from_tables(
    ...     [health, fever],
    ...     {"fever": "health"},
    ...     {"health": [0.75, 0.25], "fever": [[1.0, 0.0], [0.5, 0.5]]},
    ... )
    >>> network.query("health", {"fever": "yes"})
    array([0., 1.])
    >>> print(network)
    health (latent, 2 states: 0.75 0.25)
    └── fever (2)
    """

    __slots__ = ("_n_tied", "_parameters", "_recipe", "_structure")

    def __init__(self, structure: Structure, parameters: ArrayLike, n_tied: int = 0) -> None:
        self._structure = structure
        self._parameters = read_parameters(structure, parameters)
        self._n_tied = _read_tied(structure, n_tied)

    @classmethod
    def trusted(
        cls, structure: Structure, parameters: NDArray[np.float64], n_tied: int = 0
    ) -> Network:
        """Make a network of parameters that are known to be distributions, without a check.

        The vector is kept and must not be changed any more.
        """
        network = cls.__new__(cls)
        network._structure = structure
        network._parameters = parameters
        network._n_tied = n_tied
        parameters.setflags(write=False)
        return network

    @classmethod
    def from_tables(
        cls,
        variables: Sequence[Variable],
        parents: Parents,
        tables: Mapping[str, ArrayLike],
        pouches: Pouches = (),
    ) -> Network:
        """Build a network from one table for each variable.

        Parameters
        ----------
        variables
            Variables with distinct names.
        parents
            Maps the name of a variable to the name or names of its parents.
        tables
            Maps each name to a table of shape (states of each categorical parent…, own axis): along
            the last axis lie probabilities that sum to one, or mean and variance, see `Structure`.
        pouches
            Sets of continuous variables with a joint Gaussian distribution.

        Examples
        --------
        >>> health = Variable.hidden("health", 2)
        >>> network = Network.from_tables(
        ...     [health, Variable("pulse")],
        ...     {"pulse": "health"},
        ...     {"health": [0.5, 0.5], "pulse": [[70.0, 100.0], [90.0, 100.0]]},
        ... )
        >>> network.query("health", {"pulse": 80}).tolist()
        [0.5, 0.5]
        """
        structure = Structure(variables, parents, pouches)
        return cls(structure, pack_tables(structure, tables))

    @property
    def structure(self) -> Structure:
        """The variables and their parents."""
        return self._structure

    @property
    def parameters(self) -> NDArray[np.float64]:
        """All probabilities, means and variances as one read-only vector."""
        return self._parameters

    @property
    def posterior(self) -> Mapping[str, Conjugate] | None:
        """The distribution of each variable's parameters, if it is known: `PosteriorNetwork`."""
        return None

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in the order of the structure."""
        return self._structure.variables

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self._structure.names

    @property
    def latents(self) -> tuple[str, ...]:
        """Names of the latent variables."""
        return self._structure.latents

    @property
    def observed(self) -> tuple[str, ...]:
        """Names of the variables that are not latent."""
        return self._structure.observed

    @property
    def dimension(self) -> int:
        """Number of free parameters."""
        return self._structure.dimension - self._n_tied

    @property
    def n_tied(self) -> int:
        """How many parameters are equal to others by design."""
        return self._n_tied

    @property
    def recipe(self) -> Recipe | None:
        """How the table was read that the network was learned from, if not in the usual way."""
        return getattr(self, "_recipe", None)

    def with_recipe(self, recipe: Recipe | None) -> Self:
        """Return the same network with a note of how tables are to be read for it."""
        made: Any = self.__reduce__()
        network: Self = made[0](*made[1])
        network._recipe = recipe
        return network

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._recipe = state["recipe"]

    def cpd(self, name: str) -> NDArray[np.float64]:
        """Return P(variable | parents), read-only: parents' axes first, the variable's last.

        Of a continuous variable these are mean and variance, see `Structure`.
        """
        return self._structure.table_view(self._parameters, name)

    def with_parameters(self, parameters: ArrayLike) -> Network:
        """Return a network of the same structure with other parameters."""
        return Network(self._structure, parameters, self._n_tied)

    def rooted_at(self, name: str) -> Network:
        """Return the same distribution with a variable as the root of its tree.

        The arcs between the variable and the old root turn around; rows that belong to states of
        probability zero become uniform. No variable on that way may have two parents: in a forest,
        that is always so.
        """
        if not self._structure.parents(name):
            return self
        rerooted = transform.reroot(self._structure, self._parameters, name)
        return Network.trusted(*rerooted, self._n_tied)

    def relabelled(self, name: str, order: Sequence[int]) -> Network:
        """Return the network with the states of a latent variable in another order.

        Parameters
        ----------
        name
            A latent variable. The names of its states stay in place.
        order
            Codes of the old states: new state ``k`` is old state ``order[k]``.
        """
        relabelled = transform.relabel(self._structure, self._parameters, name, order)
        return self.with_parameters(relabelled)

    def renamed(self, mapping: Mapping[str, str]) -> Network:
        """Return the network with other names for the variables mentioned."""
        return Network(transform.rename(self._structure, mapping), self._parameters, self._n_tied)

    def marginal(self, name: str) -> NDArray[np.float64]:
        """Return the probabilities of a variable's states, of shape ``(n_states,)``."""
        return self.query(name)

    def mixture(self, name: str, evidence: Evidence | None = None) -> Mixture:
        """Return the distribution of a continuous variable given the values of others.

        Parameters
        ----------
        name
            A continuous variable.
        evidence
            As for `query`.
        """
        codes = read_evidence(self._structure, evidence)
        return elimination.compute_mixture(self._structure, self._parameters, name, codes)

    def query(
        self, targets: str | Sequence[str], evidence: Evidence | None = None
    ) -> NDArray[np.float64]:
        """Compute the joint distribution of some variables given the values of others.

        Parameters
        ----------
        targets
            One name or several.
        evidence
            Maps the name of a variable to the name of a state, to its code, or to the value of a
            continuous variable.

        Returns
        -------
        probabilities
            One axis for each target, in their order; sums to one.
        """
        codes = read_evidence(self._structure, evidence)
        names = read_targets(self._structure, targets, codes)
        return elimination.compute_joint(self._structure, self._parameters, names, codes)

    def most_probable(
        self, evidence: Evidence | None = None, targets: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Find the most probable joint assignment of some variables given others.

        Parameters
        ----------
        evidence
            Maps the name of a variable to the name of a state, or to its code.
        targets
            The variables to assign, by default all categorical ones that are not in the evidence.
            Variables that are neither are summed over.

        Returns
        -------
        assignment
            Maps the name of each target to the name of its state.
        """
        codes = read_evidence(self._structure, evidence)
        if targets is None:
            given = {*codes, *self._structure.continuous}
            targets = [name for name in self.names if name not in given]
        names = read_targets(self._structure, targets, codes) if targets else ()
        best = elimination.find_most_probable(self._structure, self._parameters, names, codes)
        return {name: self._structure.states(name)[best[name]] for name in names}

    def log_probability(self, assignment: Evidence) -> float:
        """Return the log-probability that some variables have these values, maybe ``-inf``.

        With values of continuous variables it is a log-density.

        Parameters
        ----------
        assignment
            Maps the name of a variable to the name of a state, to its code, or to the value of a
            continuous variable. Variables that are not mentioned are summed over.
        """
        codes = read_evidence(self._structure, assignment)
        return elimination.compute_log_probability(self._structure, self._parameters, codes)

    def d_separated(self, x: graphs.Names, y: graphs.Names, given: graphs.Names = ()) -> bool:
        """Say whether the graph makes two sets of variables independent given a third.

        Parameters
        ----------
        x, y
            One name or several, of latent or observed variables.
        given
            Names of variables whose values are known.

        Examples
        --------
        >>> health, fever = Variable.hidden("health", 2), Variable("fever", ("no", "yes"))
        >>> pulse, given = Variable("pulse"), {"fever": "health", "pulse": "health"}
        >>> tables = {"health": [0.5, 0.5], "fever": [[1, 0], [0.5, 0.5]]}
        >>> tables |= {"pulse": [[70, 100], [90, 100]]}
        >>> network = Network.from_tables([health, fever, pulse], given, tables)
        >>> network.d_separated("fever", "pulse", given="health")
        True
        """
        return graphs.d_separated(self._structure, x, y, given)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Return the variables that make one independent of all others, in the network's order.

        They are its parents, its children, the other parents of these, and those in its pouch.

        Examples
        --------
        >>> coins = [Variable(name, ("heads", "tails")) for name in ("one", "two", "three")]
        >>> tables = {"one": [0.5, 0.5], "two": [[1, 0], [0, 1]], "three": [[1, 0], [0, 1]]}
        >>> network = Network.from_tables(coins, {"two": "one", "three": "two"}, tables)
        >>> network.markov_blanket("one")
        ('two',)
        """
        return graphs.markov_blanket(self._structure, name)

    def moral_graph(self) -> dict[str, tuple[str, ...]]:
        """Return the neighbours of each variable in the moral graph, in the network's order.

        The graph has an edge for each arc and between any two parents of a variable.

        Examples
        --------
        >>> coins = [Variable(name, ("heads", "tails")) for name in ("one", "two")]
        >>> tables = {"one": [0.5, 0.5], "two": [[1, 0], [0, 1]]}
        >>> Network.from_tables(coins, {"two": "one"}, tables).moral_graph()
        {'one': ('two',), 'two': ('one',)}
        """
        return graphs.moral_graph(self._structure)

    def cpdag(self) -> graphs.EquivalenceClass:
        """Return which arcs all networks with the same independences have: the completed graph.

        Examples
        --------
        >>> coins = [Variable(name, ("heads", "tails")) for name in ("one", "two")]
        >>> tables = {"one": [0.5, 0.5], "two": [[1, 0], [0, 1]]}
        >>> Network.from_tables(coins, {"two": "one"}, tables).cpdag()
        EquivalenceClass(directed=(), undirected=(('one', 'two'),))
        """
        return graphs.cpdag(self._structure)

    def sample(
        self,
        n_rows: int,
        random_state: int | np.random.Generator | None = None,
        latents: bool = False,
    ) -> Dataset:
        """Draw rows from the network.

        Parameters
        ----------
        n_rows
            Number of rows, at least one.
        random_state
            A seed or generator; the same seed gives the same rows.
        latents
            If true, the latent variables become columns too.
        """
        return sampling.draw_rows(self._structure, self._parameters, n_rows, random_state, latents)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a JSON file that `load` reads back exactly.

        `latentforest.save` writes other formats, and so such names are refused here.
        """
        from latentforest.model import document

        if os.fspath(path).endswith((".bif", ".gz")):
            raise ParameterError(
                f"path: got {os.fspath(path)!r}, but Network.save writes JSON; "
                "latentforest.save(network, path) writes BIF"
            )
        document.save(self, path)

    def to_dot(self) -> str:
        """Describe the graph in the DOT language: latents as ellipses, the others as boxes."""
        return drawing.draw_dot(self._structure)

    def __str__(self) -> str:
        return drawing.draw_text(self._structure, self._parameters)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self.names)} variables, "
            f"{len(self.latents)} of them latent, {self.dimension} free parameters)"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self._structure == other._structure
            and self._n_tied == other._n_tied
            and np.array_equal(self._parameters, other._parameters)
        )

    def __hash__(self) -> int:
        # Adding zero turns -0.0 into 0.0, which is equal to it.
        return hash((self._structure, (self._parameters + 0.0).tobytes()))

    def __reduce__(
        self,
    ) -> tuple[type[Network], tuple[Structure, NDArray[np.float64], int], dict[str, Any]]:
        state = {"recipe": self.recipe}
        return Network, (self._structure, self._parameters, self._n_tied), state


def _read_tied(structure: Structure, n_tied: int) -> int:
    if not 0 <= n_tied <= structure.dimension:
        raise ModelError(
            f"n_tied must be from 0 to {structure.dimension}, the number of parameters, "
            f"got {n_tied!r}"
        )
    return n_tied
