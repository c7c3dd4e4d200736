"""A structure as a search edits it: who depends on whom, and the sizes of latent variables.

Drafts are compared by keys that do not depend on the names of latent variables, so that no
structure is fitted twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations, product

from latentforest.data.variable import Variable
from latentforest.model.structure import Structure

MOST_MEMBERS = 100  # of an equivalence class, among which the first by name is found
MOST_ORDERS = 24  # of latent variables that look alike; with more, a structure may be fitted twice

Parents = Mapping[str, frozenset[str]]


class Draft:
    """The graph of a generalized latent class structure; edits return a new one.

    Attributes
    ----------
    sizes
        Number of states of each latent variable.
    parents
        Of every variable.
    """

    def __init__(self, sizes: Mapping[str, int], parents: Parents) -> None:
        self.sizes = sizes
        self.parents = parents

    @classmethod
    def of(cls, structure: Structure) -> Draft:
        """Return the graph of a structure."""
        sizes = {name: len(structure.states(name)) for name in structure.latents}
        names = (*structure.latents, *sorted(structure.observed))
        return cls(sizes, {name: frozenset(structure.parents(name)) for name in names})

    def build(self, columns: Sequence[Variable]) -> Structure:
        """Return the structure over these columns: latent variables first, parents sorted."""
        latents = [Variable.hidden(name, size) for name, size in self.sizes.items()]
        parents = {
            name: tuple(sorted(above, key=lambda each: (each not in self.sizes, each)))
            for name, above in self.parents.items()
        }
        return Structure([*latents, *columns], parents)

    @property
    def names(self) -> tuple[str, ...]:
        """All variables."""
        return tuple(self.parents)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The manifest variables."""
        return tuple(name for name in self.parents if name not in self.sizes)

    @property
    def links(self) -> set[tuple[str, str]]:
        """All links (parent, child)."""
        return {(parent, child) for child, above in self.parents.items() for parent in above}

    @cached_property
    def _children(self) -> dict[str, tuple[str, ...]]:
        return {
            name: tuple(child for child, above in self.parents.items() if name in above)
            for name in self.sizes
        }

    def list_children(self) -> Mapping[str, tuple[str, ...]]:
        """Return the children of each latent variable."""
        return self._children

    def list_possible_parents(self, name: str) -> list[str]:
        """List the variables that may be a parent: latent ones of any, columns of columns."""
        pool = self.sizes if name in self.sizes else self.parents
        return [other for other in pool if other != name]

    def is_acyclic(self) -> bool:
        """Whether no variable depends on itself."""
        left = dict(self.parents)
        while left:
            free = [name for name, above in left.items() if above.isdisjoint(left)]
            if not free:
                return False
            for name in free:
                del left[name]
        return True

    def rewired(self, changes: Parents) -> Draft:
        """Give some variables other parents."""
        return Draft(self.sizes, {**self.parents, **changes})

    def resized(self, name: str, size: int) -> Draft:
        """Give a latent variable another number of states."""
        return Draft({**self.sizes, name: size}, self.parents)

    def with_latent(self, name: str, size: int, changes: Parents) -> Draft:
        """Add a latent root."""
        parents = {name: frozenset[str](), **self.parents, **changes}
        return Draft({**self.sizes, name: size}, parents)

    def without(self, name: str, instead: frozenset[str]) -> Draft:
        """Remove a latent variable; its children get other parents instead."""
        sizes = {each: size for each, size in self.sizes.items() if each != name}
        parents = {
            each: above - {name} | (instead - {each}) if name in above else above
            for each, above in self.parents.items()
            if each != name
        }
        return Draft(sizes, parents)

    def compute_dimension(self, cards: Mapping[str, int]) -> int:
        """Count the free parameters; ``cards`` are the numbers of states of the columns."""
        total = 0
        for name, above in self.parents.items():
            n_rows = 1
            for parent in above:
                n_rows *= self.sizes.get(parent) or cards[parent]
            total += n_rows * ((self.sizes.get(name) or cards[name]) - 1)
        return total

    @cached_property
    def exact_key(self) -> Hashable:
        """Tell the graph apart from others, names and directions included."""
        return (
            frozenset(self.sizes.items()),
            frozenset((name, above) for name, above in self.parents.items() if above),
        )

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Tell the graph apart from those that are not Markov equivalent to it.

        Equivalent ones have the same links and the same pairs of parents without a link between
        them. Latent variables are numbered: the numbering with the first text counts.
        """
        alike: dict[str, list[str]] = {}
        for name, colour in self._colour_latents().items():
            alike.setdefault(colour, []).append(name)
        groups = [alike[colour] for colour in sorted(alike)]
        n_orders = 1
        for group in groups:
            for number in range(2, len(group) + 1):
                n_orders *= number
        if n_orders > MOST_ORDERS:
            return self._describe([name for group in groups for name in group])
        orders = product(*(permutations(group) for group in groups))
        return min(self._describe([name for part in order for name in part]) for order in orders)

    def _colour_latents(self) -> dict[str, str]:
        """Describe each latent variable by its surroundings, without names of others."""
        colours = {
            name: f"{size}:{','.join(c for c in self._children[name] if c not in self.sizes)}"
            for name, size in self.sizes.items()
        }
        for _ in range(2 if len(self.sizes) > 1 else 0):
            colours = {
                name: f"{colour}({';'.join(self._list_colours(name, colours))})"
                for name, colour in colours.items()
            }
        return colours

    def _list_colours(self, name: str, colours: Mapping[str, str]) -> list[str]:
        around = {*self.parents[name], *self._children[name]} & self.sizes.keys()
        return sorted(colours[other] for other in around)

    def _describe(self, order: Sequence[str]) -> tuple[str, ...]:
        """Write links without direction, and pairs of parents that have no link."""
        label = {name: name for name in self.parents} | {
            name: f"\0{number}" for number, name in enumerate(order)
        }
        text = [f"{label[name]}[{self.sizes[name]}]" for name in order]
        for child, above in self.parents.items():
            parents = sorted(above)
            for i, a in enumerate(parents):
                text.append("-".join(sorted((label[a], label[child]))))
                for b in parents[i + 1 :]:
                    if a not in self.parents[b] and b not in self.parents[a]:
                        text.append(">".join((*sorted((label[a], label[b])), label[child])))
        return (*text[: len(order)], *sorted(text[len(order) :]))


def find_first_equivalent(draft: Draft) -> Draft:
    """Return, of the equivalent graphs, the one whose links come first by name.

    Links between columns are turned around that are covered: both ends have the same other
    parents. If there are very many such graphs, the given one is returned.
    """
    found, waiting = {draft.exact_key: draft}, [draft]
    for here in waiting:
        for parent, child in _list_covered(here):
            turned = {child: here.parents[parent], parent: here.parents[child] - {parent} | {child}}
            other = here.rewired(turned)
            if other.exact_key not in found:
                found[other.exact_key] = other
                waiting.append(other)
        if len(found) > MOST_MEMBERS:
            return draft
    return min(found.values(), key=lambda each: sorted(each.links))


def _list_covered(draft: Draft) -> Iterator[tuple[str, str]]:
    for child in draft.columns:
        for parent in sorted(draft.parents[child]):
            if draft.parents[child] == draft.parents[parent] | {parent} and parent in draft.columns:
                yield parent, child
