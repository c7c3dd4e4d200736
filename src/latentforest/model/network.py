"""The network: a structure with its parameters, and the questions it answers."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentforest.data.dataset import Dataset
from latentforest.data.results.labelled import LabelledArray
from latentforest.data.results.table import Table
from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.model import graphs, sampling, transform
from latentforest.model.about import NOTHING
from latentforest.model.described import Described
from latentforest.model.gaussian import Mixture
from latentforest.model.parameters import pack_tables, read_parameters
from latentforest.model.questions import elimination
from latentforest.model.questions.evidence import Evidence, read_evidence, read_targets
from latentforest.model.showing import axes, drawing, profiles
from latentforest.model.structure import Parents, Pouches, Structure

if TYPE_CHECKING:
    from latentforest.model.conjugate import Conjugate
    from latentforest.model.showing.explorer import Explorer


class Network(Described):
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
    predictive
        Parameters for rows that were not in the table, of the same shape: see ``predictive``.

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
    P(health | fever = yes)
    health  probability
         1        0.000
         2        1.000
    >>> print(network)
    health (latent, 2 states: 0.75 0.25)
    └── fever (2)
    """

    __slots__ = ("_n_tied", "_parameters", "_predictive", "_structure")

    def __init__(
        self,
        structure: Structure,
        parameters: ArrayLike,
        n_tied: int = 0,
        predictive: ArrayLike | None = None,
    ) -> None:
        self._structure = structure
        self._parameters = read_parameters(structure, parameters)
        self._n_tied = _read_tied(structure, n_tied)
        self._predictive = None if predictive is None else read_parameters(structure, predictive)
        self._about = NOTHING

    @classmethod
    def trusted(
        cls,
        structure: Structure,
        parameters: NDArray[np.float64],
        n_tied: int = 0,
        predictive: NDArray[np.float64] | None = None,
    ) -> Network:
        """Make a network of parameters that are known to be distributions, without a check.

        The vector is kept and must not be changed any more.
        """
        network = cls.__new__(cls)
        network._structure = structure
        network._parameters = parameters
        network._n_tied = n_tied
        network._predictive = predictive
        network._about = NOTHING
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
    def predictive(self) -> Network:
        """The same network with the parameters that meet rows which were not in the table.

        A learner estimates them beside those that it reports: no declared state has probability
        zero there. A network that has no such parameters is its own.

        Examples
        --------
        >>> coin = Variable("coin", ("heads", "tails"))
        >>> network = Network(Structure([coin], {}), [1.0, 0.0], predictive=[0.9, 0.1])
        >>> network.query("coin").values, network.predictive.query("coin").values
        (array([1., 0.]), array([0.9, 0.1]))
        """
        if self._predictive is None:
            return self
        return self._tell(Network.trusted(self._structure, self._predictive, self._n_tied))

    def with_predictive(self, parameters: ArrayLike | None) -> Network:
        """Return the same network with other parameters for new rows, or without such."""
        return self._tell(Network(self._structure, self._parameters, self._n_tied, parameters))

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
        """Number of free parameters.

        States of observed variables that have probability zero in every case do not count: they
        were declared, but never seen.
        """
        return self._count_possible() - self._n_tied

    def _count_possible(self) -> int:
        """Count the parameters of states that can occur."""
        if self._parameters.all():
            return self._structure.dimension
        from latentforest.model.state_edits import possible_states, replace_variables

        states = {each.name: possible_states(self, each) for each in self.variables}
        if all(each.states == states[each.name] for each in self.variables):
            return self._structure.dimension
        few = [Variable(each.name, states[each.name], each.latent) for each in self.variables]
        return replace_variables(self._structure, few).dimension

    @property
    def n_tied(self) -> int:
        """How many parameters are equal to others by design."""
        return self._n_tied

    def cpd(self, name: str) -> LabelledArray:
        """Return P(variable | parents), read-only: parents' axes first, the variable's last.

        Of a continuous variable these are mean and variance, see `Structure`. The array knows the
        states of its axes, see `LabelledArray`; ``.values`` is a plain one.

        Examples
        --------
        >>> health, fever = Variable.hidden("health", 2), Variable("fever", ("no", "yes"))
        >>> tables = {"health": [0.5, 0.5], "fever": [[1, 0], [0.5, 0.5]]}
        >>> table = Network.from_tables([health, fever], {"fever": "health"}, tables).cpd("fever")
        >>> print(table)
        P(fever | health)
        health     no    yes
             1  1.000  0.000
             2  0.500  0.500
        >>> table[1].tolist(), float(table["2", "yes"])
        ([0.5, 0.5], 0.5)
        """
        return axes.label_family(self._structure, name, self.table_view(name))

    def table_view(self, name: str) -> NDArray[np.float64]:
        """Return the numbers of ``cpd`` as a plain array, read-only, at next to no cost."""
        return self._structure.table_view(self._parameters, name)

    def with_parameters(self, parameters: ArrayLike) -> Network:
        """Return a network of the same structure with other parameters, which were not learned."""
        network = Network(self._structure, parameters, self._n_tied)
        return self._tell(network, replace(self._about, record=None))

    def rooted_at(self, name: str) -> Network:
        """Return the same distribution with a variable as the root of its tree.

        The arcs between the variable and the old root turn around; rows that belong to states of
        probability zero become uniform. No variable on that way may have two parents: in a forest,
        that is always so.
        """
        if not self._structure.parents(name):
            return self
        rerooted = transform.reroot(self._structure, self._parameters, name)
        predictive = self._predictive
        if predictive is not None:
            predictive = transform.reroot(self._structure, predictive, name)[1]
        return self._tell(Network.trusted(*rerooted, self._n_tied, predictive))

    def relabelled(self, name: str, order: Sequence[int]) -> Network:
        """Return the network with the states of a latent variable in another order.

        Parameters
        ----------
        name
            A latent variable. The names of its states stay in place, their labels move along.
        order
            Codes of the old states: new state ``k`` is old state ``order[k]``.
        """
        return self.reordered({name: order})

    def reordered(self, orders: transform.Orders) -> Network:
        """Return the network with the states of several latent variables in another order.

        ``orders`` has for each of them what `relabelled` takes.
        """
        relabelled = transform.relabel(self._structure, self._parameters, orders)
        predictive = self._predictive
        if predictive is not None:
            predictive = transform.relabel(self._structure, predictive, orders)
        network = Network(self._structure, relabelled, self._n_tied, predictive)
        return self._tell(network, self._about.reordered(orders, self._structure))

    def renamed(self, mapping: Mapping[str, str]) -> Network:
        """Return the network with other names for the variables mentioned."""
        renamed = transform.rename(self._structure, mapping)
        network = Network(renamed, self._parameters, self._n_tied, self._predictive)
        return self._tell(network, self._about.renamed(mapping, self._structure))

    def marginal(self, name: str) -> LabelledArray:
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
    ) -> LabelledArray:
        """Compute the joint distribution of some variables given the values of others.

        Parameters
        ----------
        targets
            One name or several.
        evidence
            Maps the name of a variable to its value. Of a categorical one that is a state, found as
            text, as an equal number, or as true or false; or the `Code` of a state.

        Returns
        -------
        probabilities
            One axis for each target, in their order; sums to one. The array knows the states of
            its axes, see `LabelledArray`; ``.values`` is a plain one.
        """
        codes = read_evidence(self._structure, evidence)
        names = read_targets(self._structure, targets, codes)
        joint = elimination.compute_joint(self._structure, self._parameters, names, codes)
        return axes.label_joint(self._structure, names, codes, joint)

    def profiles(self, latent: str | None = None, columns: Sequence[str] | None = None) -> Table:
        """Say what the states of latent variables mean: the distribution of columns in each.

        Parameters
        ----------
        latent
            Name of a latent variable; by default all of them that have children.
        columns
            Names of any variables; by default the children of the latent variable.

        Returns
        -------
        table
            First a row with the sizes of the states, then the variables, the most telling first:
            ``column``; its ``value`` (of continuous ones ``mean`` and ``sd``); ``bits``, the mutual
            information with the latent variable; ``all``, the probability of the value; and that
            in each state, by the names of the states. If there are several latent variables, the
            first column names the ``latent`` one.

        Examples
        --------
        >>> health, fever = Variable.hidden("health", 2), Variable("fever", ("no", "yes"))
        >>> tables = {"health": [0.75, 0.25], "fever": [[1, 0], [0.5, 0.5]]}
        >>> network = Network.from_tables([health, fever], {"fever": "health"}, tables)
        >>> print(network.profiles())
        column  value   bits    all      1      2
        health   size         1.000  0.750  0.250
         fever     no  0.294  0.875  1.000  0.500
         fever    yes  0.294  0.125  0.000  0.500
        """
        return profiles.tabulate_profiles(self, latent, columns)

    def edge_information(self) -> Table:
        """Measure the mutual information of the two ends of each arc, in bits.

        Returns
        -------
        table
            ``parent``, ``child``, ``bits`` and the ``share`` of the child's entropy, the strongest
            first. Arcs between continuous variables have no value; continuous children no share.

        Examples
        --------
        >>> health, fever = Variable.hidden("health", 2), Variable("fever", ("no", "yes"))
        >>> tables = {"health": [0.75, 0.25], "fever": [[1, 0], [0.5, 0.5]]}
        >>> network = Network.from_tables([health, fever], {"fever": "health"}, tables)
        >>> print(network.edge_information())
        parent  child   bits  share
        health  fever  0.294  0.540
        """
        return profiles.tabulate_edges(self)

    def most_probable(
        self, evidence: Evidence | None = None, targets: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Find the most probable joint assignment of some variables given others.

        Parameters
        ----------
        evidence
            As for `query`.
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
            As the evidence of `query`. Variables that are not mentioned are summed over.
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
        """Write the network to a file, in the format that the end of its name says.

        The same as `latentforest.save`.
        """
        importlib.import_module("latentforest.formats").save(self, path)

    def to_pgmpy(self) -> Any:
        """Return the network as pgmpy's ``DiscreteBayesianNetwork``; `from_pgmpy` reads it."""
        return _find_objects().to_pgmpy(self)

    def to_pyagrum(self) -> Any:
        """Return the network as pyAgrum's ``BayesNet``; `from_pyagrum` reads it."""
        return _find_objects().to_pyagrum(self)

    def to_networkx(self) -> Any:
        """Return the graph as networkx's ``DiGraph`` with tables; `from_networkx` reads it."""
        return _find_objects().to_networkx(self)

    def to_dot(self) -> str:
        """Describe the graph in the DOT language: latents as ellipses, the others as boxes."""
        return drawing.draw_dot(self._structure)

    def __str__(self) -> str:
        return drawing.draw_text(self._structure, self._parameters)

    def explore(self) -> Explorer:
        """Ask the network in a notebook: set values, and see what follows for all others.

        Needs ipywidgets (``pip install 'latentforest[notebook]'``) to be shown; `Explorer` answers
        without it, too.

        Examples
        --------
        >>> coins = [Variable(name, ("heads", "tails")) for name in ("one", "two")]
        >>> tables = {"one": [0.5, 0.5], "two": [[1, 0], [0, 1]]}
        >>> explorer = Network.from_tables(coins, {"two": "one"}, tables).explore()
        >>> explorer.set("one", "tails")
        >>> explorer.query("two").tolist()
        [0.0, 1.0]
        """
        from latentforest.model.showing.explorer import Explorer

        return Explorer(self)

    def _repr_html_(self) -> str:
        from latentforest.model.showing.notebook import write_network

        return write_network(self)

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
            and np.array_equal(self.predictive.parameters, other.predictive.parameters)
        )

    def __hash__(self) -> int:
        # Adding zero turns -0.0 into 0.0, which is equal to it.
        return hash((self._structure, (self._parameters + 0.0).tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self._structure, self._parameters, self._n_tied, self._predictive)
        return Network, values, self._about


def _find_objects() -> Any:
    """Load the converters when they are asked for: formats know networks, not the reverse."""
    return importlib.import_module("latentforest.formats.objects")


def _read_tied(structure: Structure, n_tied: int) -> int:
    if not 0 <= n_tied <= structure.dimension:
        raise ModelError(
            f"n_tied must be from 0 to {structure.dimension}, the number of parameters, "
            f"got {n_tied!r}"
        )
    return n_tied
