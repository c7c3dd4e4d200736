"""The structure of a network: its variables, their parents, and the layout of its parameters."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.model import graphs

Value = TypeVar("Value")
Parents = Mapping[str, str | Sequence[str]]
Pouches = Sequence[Collection[str]]

# NumPy 1.26 arrays have at most 32 axes; a table has one for each parent and one for the child.
MAX_PARENTS = 31


class Structure:
    """The variables of a network and the parents of each.

    A structure never changes; edits return a new one. It also fixes how parameters are laid
    out in one flat vector: one table for each variable, in the order of ``variables``, each in
    C order with one axis per categorical parent and the variable's own axis last. Along that axis
    lie

    - the probabilities of the states of a categorical variable;
    - mean and variance of a continuous variable; with continuous parents (linear Gaussian) the
      intercept, a slope for each of them, and the variance around the line;
    - the mean of a continuous variable in a pouch, then its covariances with all variables of the
      pouch, its own variance among them.

    Parameters
    ----------
    variables
        Variables with distinct names. Latent ones are categorical.
    parents
        Maps the name of a variable to the name or names of its parents. A variable that is
        not mentioned has none. Parents of a categorical variable are categorical.
    pouches
        Sets of continuous variables, without continuous parents and with the same parents, that
        have a joint Gaussian distribution given these.

    Examples
    --------
    >>> health = Variable.hidden("health", 2)
    >>> fever = Variable("fever", ("no", "low", "high"))
    >>> structure = Structure([health, fever], {"fever": "health"})
    >>> structure.shape("fever"), structure.offset("fever"), structure.dimension
    ((2, 3), 2, 5)
    >>> structure = Structure([health, Variable("pulse")], {"pulse": "health"})
    >>> structure.shape("pulse"), structure.dimension
    ((2, 2), 5)
    """

    _order: tuple[str, ...] | None

    def __init__(
        self, variables: Sequence[Variable], parents: Parents, pouches: Pouches = ()
    ) -> None:
        index = _index_variables(variables)
        read = _read_parents(index, parents)
        _check_kinds(index, read)
        self._lay_out(index, read, _read_pouches(index, read, pouches))
        self._order = _sort_topologically(self._parents, self._children)

    def _lay_out(
        self,
        variables: dict[str, Variable],
        parents: dict[str, tuple[str, ...]],
        pouches: tuple[tuple[str, ...], ...],
    ) -> None:
        """Derive everything else from variables, parents and pouches that have been checked."""
        self._variables = variables
        self._all = tuple(variables.values())
        self._names = tuple(variables)
        self._latents = tuple(variable.name for variable in self._all if variable.latent)
        self._observed = tuple(variable.name for variable in self._all if not variable.latent)
        self._continuous = tuple(v.name for v in self._all if v.states is None)
        self._cards = {name: len(variable.states or ()) for name, variable in variables.items()}
        self._wire(parents, pouches)

    def _wire(
        self, parents: dict[str, tuple[str, ...]], pouches: tuple[tuple[str, ...], ...]
    ) -> None:
        """Derive what depends on parents and pouches, too."""
        self._parents, self._pouches = parents, pouches
        self._pouch_of = {name: pouch for pouch in pouches for name in pouch}
        self._children = _invert(parents)
        self._order = None
        self._is_forest = max(map(len, parents.values())) <= 1
        self._place_tables({name: self._find_shape(name) for name in parents})
        self._hash: int | None = None

    def _find_shape(self, name: str) -> tuple[int, ...]:
        family, cards = self._parents[name], self._cards
        if cards[name]:
            return (*map(cards.__getitem__, family), cards[name])
        rows = [cards[parent] for parent in family if cards[parent]]
        n_slopes = len(family) - len(rows)
        return (*rows, 1 + len(self._pouch_of.get(name, (name,))) + n_slopes)

    def _place_tables(self, shapes: dict[str, tuple[int, ...]]) -> None:
        self._shapes = shapes
        ends = list(accumulate(map(math.prod, shapes.values()), initial=0))
        self._offsets = dict(zip(shapes, ends, strict=False))
        self._n_values = ends[-1]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in the order given."""
        return self._all

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables in the order given."""
        return self._names

    @property
    def latents(self) -> tuple[str, ...]:
        """Names of the latent variables."""
        return self._latents

    @property
    def observed(self) -> tuple[str, ...]:
        """Names of the variables that are not latent."""
        return self._observed

    @property
    def continuous(self) -> tuple[str, ...]:
        """Names of the continuous variables."""
        return self._continuous

    @property
    def pouches(self) -> tuple[tuple[str, ...], ...]:
        """The pouches of two or more variables, in the order of the variables."""
        return self._pouches

    @property
    def order(self) -> tuple[str, ...]:
        """All names, every variable after its parents."""
        if self._order is None:
            self._order = _sort_topologically(self._parents, self._children)
        return self._order

    @property
    def roots(self) -> tuple[str, ...]:
        """Names of the variables without parents."""
        return tuple(name for name, parents in self._parents.items() if not parents)

    @property
    def is_forest(self) -> bool:
        """True if no variable has more than one parent."""
        return self._is_forest

    @property
    def n_values(self) -> int:
        """Length of the flat parameter vector."""
        return self._n_values

    @property
    def dimension(self) -> int:
        """Number of free parameters."""
        if not self._continuous:
            return sum(math.prod(shape[:-1]) * (shape[-1] - 1) for shape in self._shapes.values())
        return sum(
            math.prod(shape[:-1]) * self._count_free(name) for name, shape in self._shapes.items()
        )

    def _count_free(self, name: str) -> int:
        """Number of free parameters in a row of a table; a covariance counts once."""
        if name in self._pouch_of:
            return 2 + self._pouch_of[name].index(name)
        width = self._shapes[name][-1]
        return width if self._variables[name].states is None else width - 1

    def variable(self, name: str) -> Variable:
        """Return the variable of that name."""
        return _look_up(self._variables, name)

    def states(self, name: str) -> tuple[str, ...]:
        """Return the names of a variable's states, in the order of their codes.

        A continuous variable has none.
        """
        return self.variable(name).states or ()

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the names of a variable's parents, in the order of its table's axes."""
        return _look_up(self._parents, name)

    def categorical_parents(self, name: str) -> tuple[str, ...]:
        """Return the parents that a variable's table has an axis for."""
        parents = self.parents(name)
        if name not in self._continuous:
            return parents
        return tuple(each for each in parents if self._variables[each].states is not None)

    def continuous_parents(self, name: str) -> tuple[str, ...]:
        """Return the parents that a variable's table has slopes for."""
        parents = self.parents(name)
        return tuple(each for each in parents if self._variables[each].states is None)

    def pouch(self, name: str) -> tuple[str, ...]:
        """Return the variables that share a pouch with a continuous one, itself among them."""
        self.variable(name)
        return self._pouch_of.get(name, (name,))

    def children(self, name: str) -> tuple[str, ...]:
        """Return the names of a variable's children."""
        return _look_up(self._children, name)

    def neighbours(self, name: str) -> tuple[str, ...]:
        """Return the names of a variable's parents, then of its children."""
        return self.parents(name) + self.children(name)

    def d_separated(self, x: graphs.Names, y: graphs.Names, given: graphs.Names = ()) -> bool:
        """Say whether the graph makes variables independent, see `Network.d_separated`."""
        return graphs.d_separated(self, x, y, given)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Return what makes a variable independent of all others: `Network.markov_blanket`."""
        return graphs.markov_blanket(self, name)

    def moral_graph(self) -> dict[str, tuple[str, ...]]:
        """Return the neighbours of each variable, see `Network.moral_graph`."""
        return graphs.moral_graph(self)

    def cpdag(self) -> graphs.EquivalenceClass:
        """Return the class of structures with the same independences, see `Network.cpdag`."""
        return graphs.cpdag(self)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a variable's table: categorical parents' axes, then its own."""
        return _look_up(self._shapes, name)

    def offset(self, name: str) -> int:
        """Return where a variable's table starts in the flat parameter vector."""
        return _look_up(self._offsets, name)

    @property
    def offsets(self) -> Mapping[str, int]:
        """Where the table of each variable starts in the flat parameter vector."""
        return self._offsets

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of the table of each variable."""
        return self._shapes

    @property
    def all_children(self) -> Mapping[str, tuple[str, ...]]:
        """Children of each variable."""
        return self._children

    def table_view(self, parameters: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        """Return a variable's table as a view of the flat parameter vector."""
        start, shape = self.offset(name), self._shapes[name]
        return parameters[start : start + math.prod(shape)].reshape(shape)

    def copy_tables(
        self,
        parameters: NDArray[np.float64],
        old: Structure,
        old_parameters: NDArray[np.float64],
        but: Collection[str],
    ) -> None:
        """Copy the tables of another structure but some; the others have the same shape there.

        Tables that lie side by side in both are copied in one piece.
        """
        start = old_start = size = 0
        for name, place in self._offsets.items():
            if name in but:
                continue
            old_place = old._offsets[name]
            if place != start + size or old_place != old_start + size:
                parameters[start : start + size] = old_parameters[old_start : old_start + size]
                start, old_start, size = place, old_place, 0
            size += math.prod(self._shapes[name])
        parameters[start : start + size] = old_parameters[old_start : old_start + size]

    def with_parents(self, changes: Parents) -> Structure:
        """Return a structure in which the variables mentioned have other parents."""
        return Structure(self.variables, {**self._parents, **changes}, self._pouches)

    def rewired(self, changes: Mapping[str, tuple[str, ...]]) -> Structure:
        """Return a structure with other parents, known to be variables of this one of good kinds.

        Like ``with_parents`` but much quicker: cycles are found when the order is asked for.
        """
        structure = self._copy()
        structure._parents = {**self._parents, **changes}
        structure._children = {**self._children}
        for name, family in changes.items():
            for parent in self._parents[name]:
                siblings = structure._children[parent]
                structure._children[parent] = tuple(each for each in siblings if each != name)
            for parent in family:
                siblings = (*structure._children[parent], name)
                structure._children[parent] = tuple(sorted(siblings, key=self._offsets.__getitem__))
        structure._order = None
        structure._is_forest = max(map(len, structure._parents.values())) <= 1
        structure._reshape(changes)
        return structure

    def with_variable(self, variable: Variable) -> Structure:
        """Return a structure in which a latent variable has other states."""
        name, states = variable.name, variable.states
        if not (self.variable(name).latent and variable.latent and states):
            raise ModelError(f"variable {name!r} must be latent, before and after")
        structure = self._copy()
        structure._variables = {**self._variables, name: variable}
        structure._all = tuple(structure._variables.values())
        structure._cards = {**self._cards, name: len(states)}
        structure._reshape((name, *self._children[name]))
        return structure

    def with_latent(self, variable: Variable, changes: Mapping[str, tuple[str, ...]]) -> Structure:
        """Return a structure with one more latent variable and other parents, as in ``rewired``."""
        structure, name = self._copy(), variable.name
        structure._variables = {**self._variables, name: variable}
        structure._all = (*self._all, variable)
        structure._names = (*self._names, name)
        structure._latents = (*self._latents, name)
        structure._cards = {**self._cards, name: len(variable.states or ())}
        structure._parents = {**self._parents, name: ()}
        structure._children = {**self._children, name: ()}
        structure._reshape((name,))
        return structure.rewired(changes)

    def _copy(self) -> Structure:
        """Return the same structure, to be changed before anyone else sees it."""
        structure = Structure.__new__(Structure)
        structure.__dict__.update(self.__dict__)
        structure._hash = None
        return structure

    def _reshape(self, names: Iterable[str]) -> None:
        """Find the shapes of some tables again."""
        self._place_tables({**self._shapes, **{name: self._find_shape(name) for name in names}})

    def _laid_out(
        self, variables: dict[str, Variable], parents: dict[str, tuple[str, ...]]
    ) -> Structure:
        """Return a structure of variables and parents that need no check, with these pouches."""
        structure = Structure.__new__(Structure)
        structure._lay_out(variables, parents, self._pouches)
        return structure

    def with_pouches(self, pouches: Pouches) -> Structure:
        """Return a structure with these pouches instead of its own."""
        return Structure(self.variables, self._parents, pouches)

    def add(self, variables: Iterable[Variable], parents: Parents) -> Structure:
        """Return a structure with more variables, and other parents for those mentioned."""
        return Structure((*self.variables, *variables), {**self._parents, **parents}, self._pouches)

    def remove(self, names: Collection[str]) -> Structure:
        """Return a structure without these variables; their children lose them as parents."""
        gone = {names} if isinstance(names, str) else set(names)
        for name in gone:
            self.variable(name)
        left = {name: variable for name, variable in self._variables.items() if name not in gone}
        parents = {
            name: tuple(parent for parent in self._parents[name] if parent not in gone)
            for name in left
        }
        if left and not self._pouches:  # what is left of a good structure is one
            return self._laid_out(left, parents)
        pouches = [[name for name in pouch if name not in gone] for pouch in self._pouches]
        return Structure(list(left.values()), parents, pouches)

    def __contains__(self, name: object) -> bool:
        return name in self._variables

    def __len__(self) -> int:
        return len(self._variables)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure):
            return NotImplemented
        # Dictionaries compare equal in any order, so the order of the variables is compared too.
        return self is other or (
            self._parents == other._parents
            and self._all == other._all
            and self._pouches == other._pouches
        )

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self._all, tuple(self._parents.values()), self._pouches))
        return self._hash

    def __reduce__(self) -> tuple[type[Structure], tuple[tuple[Variable, ...], Parents, Pouches]]:
        return Structure, (self.variables, self._parents, self._pouches)

    def __repr__(self) -> str:
        n_arcs = sum(map(len, self._parents.values()))
        return (
            f"Structure({len(self)} variables, {len(self.latents)} of them latent, {n_arcs} arcs)"
        )


def _look_up(table: Mapping[str, Value], name: str) -> Value:
    try:
        return table[name]
    except (KeyError, TypeError):
        raise ModelError(f"the network has no variable named {name!r}") from None


def _index_variables(variables: Sequence[Variable]) -> dict[str, Variable]:
    """Map names to variables, in the order given."""
    index: dict[str, Variable] = {}
    for variable in variables:
        if not isinstance(variable, Variable):
            raise ModelError(f"variables must be Variable objects, got {variable!r}")
        if variable.name in index:
            raise ModelError(f"two variables are named {variable.name!r}; names must be unique")
        index[variable.name] = variable
    if not index:
        raise ModelError("a network needs at least one variable, got none")
    return index


def _read_parents(
    variables: Mapping[str, Variable], parents: Parents
) -> dict[str, tuple[str, ...]]:
    """Give every variable its tuple of parents, in the order of the variables."""
    for name in parents:
        if name not in variables:
            raise ModelError(f"parents are given for {name!r}, which is not among the variables")
    return {name: _read_family(variables, name, parents.get(name, ())) for name in variables}


def _read_family(
    variables: Mapping[str, Variable], name: str, given: str | Sequence[str]
) -> tuple[str, ...]:
    try:
        family = (given,) if isinstance(given, str) else tuple(given)
    except TypeError:
        raise ModelError(f"parents of {name!r} must be a name or names, got {given!r}") from None
    for parent in family:
        if not isinstance(parent, str) or parent not in variables:
            raise ModelError(f"parent {parent!r} of {name!r} is not among the variables")
        if parent == name:
            raise ModelError(f"variable {name!r} is its own parent")
    if len(set(family)) < len(family):
        raise ModelError(f"variable {name!r} has a repeated parent: {family!r}")
    if len(family) > MAX_PARENTS:
        raise ModelError(
            f"variable {name!r} has {len(family)} parents; at most {MAX_PARENTS} are supported"
        )
    return family


def _check_kinds(variables: Mapping[str, Variable], parents: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse families that are neither tables of probabilities nor Gaussian."""
    for name, family in parents.items():
        for parent in family:
            if variables[name].is_categorical and not variables[parent].is_categorical:
                raise ModelError(
                    f"variable {name!r} is categorical and cannot have "
                    f"the continuous parent {parent!r}"
                )
    for name, variable in variables.items():
        if variable.latent and not variable.is_categorical:
            raise ModelError(
                f"variable {name!r} is latent and continuous; latent variables must be categorical"
            )


def _read_pouches(
    variables: Mapping[str, Variable], parents: Mapping[str, tuple[str, ...]], pouches: Pouches
) -> tuple[tuple[str, ...], ...]:
    """Put pouches in the order of the variables; those of a single variable are none."""
    if not pouches:
        return ()
    seen: set[str] = set()
    for pouch in pouches:
        for name in pouch:
            if name not in variables:
                raise ModelError(f"variable {name!r} of a pouch is not among the variables")
            if variables[name].is_categorical:
                raise ModelError(f"variable {name!r} is categorical and cannot be in a pouch")
            if name in seen:
                raise ModelError(f"variable {name!r} is in a pouch twice")
            seen.add(name)
        _check_pouch(variables, parents, pouch)
    rank = {name: position for position, name in enumerate(variables)}
    ordered = [tuple(sorted(pouch, key=rank.__getitem__)) for pouch in pouches if len(pouch) > 1]
    return tuple(sorted(ordered, key=lambda pouch: rank[pouch[0]]))


def _check_pouch(
    variables: Mapping[str, Variable],
    parents: Mapping[str, tuple[str, ...]],
    pouch: Collection[str],
) -> None:
    if len(pouch) < 2:
        return
    first, *others = pouch
    for name in others:
        if parents[name] != parents[first]:
            raise ModelError(
                f"variables {first!r} and {name!r} are in one pouch, but have the parents "
                f"{parents[first]!r} and {parents[name]!r}; expected the same"
            )
    for parent in parents[first]:
        if not variables[parent].is_categorical:
            raise ModelError(
                f"variable {first!r} is in a pouch and cannot have the continuous parent {parent!r}"
            )


def _invert(parents: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, family in parents.items():
        for parent in family:
            children[parent].append(name)
    return {name: tuple(family) for name, family in children.items()}


def _sort_topologically(
    parents: Mapping[str, tuple[str, ...]], children: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Order the names layer by layer from the roots; refuse cycles."""
    waiting = {name: len(family) for name, family in parents.items()}
    ready = deque(name for name, count in waiting.items() if count == 0)
    order = []
    while ready:
        name = ready.popleft()
        order.append(name)
        for child in children[name]:
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    if len(order) < len(parents):
        left = {name for name, count in waiting.items() if count > 0}
        raise ModelError(f"the parents form a cycle: {' -> '.join(_find_cycle(parents, left))}")
    return tuple(order)


def _find_cycle(parents: Mapping[str, tuple[str, ...]], left: set[str]) -> list[str]:
    """Walk up from any unsorted name: all of these have an unsorted parent."""
    walk = [next(name for name in parents if name in left)]
    seen = {walk[0]: 0}
    while True:
        parent = next(parent for parent in parents[walk[-1]] if parent in left)
        walk.append(parent)
        if parent in seen:
            return walk[seen[parent] :][::-1]
        seen[parent] = len(walk) - 1
