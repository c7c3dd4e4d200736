"""RaisingComplexity: the structures one step away from a generalized latent class structure.

A step adds or removes a latent variable, a link or a state, or turns a link around. Some pairs of
steps count as one, as greedy search seldom takes the first of them: a parent is replaced by
another, a state by a link, and a new latent variable takes children from an old one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from latentforest.model.structure import MAX_PARENTS
from latentforest.search.changes import Change
from latentforest.search.glc.draft import Draft
from latentforest.search.naming import name_new_latent

FAMILIES = ("glc", "ls", "hlc", "lc")
Link = tuple[str, str]  # parent, child


@dataclass(frozen=True)
class GlcRules:
    """Which structures a search may visit.

    Parameters
    ----------
    family
        "glc": all; "ls" (latent structure): no links between columns, which have latent parents;
        "hlc" (hierarchical latent class): a tree with the columns as leaves; "lc" (latent class):
        one latent variable.
    attached
        Every column has a latent parent.
    max_latent_parents
        Of a column; none: any number.
    max_states
        Of a latent variable; none: any number.
    required, forbidden
        Links (parent, child).
    leaves
        Columns that are no parents: the continuous ones.
    """

    family: str = "glc"
    attached: bool = False
    max_latent_parents: int | None = None
    max_states: int | None = None
    required: frozenset[Link] = frozenset()
    forbidden: frozenset[Link] = frozenset()

    leaves: frozenset[str] = frozenset()

    def allow(self, draft: Draft) -> bool:
        """Whether a structure, known to be acyclic, may be visited."""
        return self.find_fault(draft) is None

    def find_fault(self, draft: Draft) -> str | None:
        """Say which rule a structure breaks."""
        return (
            self._find_wrong_link(draft)
            or self._find_wrong_size(draft)
            or self._find_stranger(draft)
            or _find_idleness(draft)
        )

    def _find_wrong_link(self, draft: Draft) -> str | None:
        if not (self.required or self.forbidden or self.leaves):
            return None
        for links, what in (
            (self.required - draft.links, "lacks the required"),
            (self.forbidden & draft.links, "has the forbidden"),
        ):
            if links:
                return f"{what} link {' -> '.join(min(links))}"
        if not all(map(self.leaves.isdisjoint, draft.parents.values())):
            return "has a link from a continuous column"
        return None

    def _find_wrong_size(self, draft: Draft) -> str | None:
        most = MAX_PARENTS if self.max_latent_parents is None else self.max_latent_parents
        if self.max_states is not None and max(draft.sizes.values(), default=0) > self.max_states:
            return f"has a latent variable of more than {self.max_states} states"
        for name in draft.columns:
            above = draft.parents[name]
            if len(above) > MAX_PARENTS:
                return f"has a column of more than {MAX_PARENTS} parents"
            if len(above & draft.sizes.keys()) > most:
                return f"has a column of more than {most} latent parents"
        return None

    def _find_stranger(self, draft: Draft) -> str | None:
        """Say what keeps a structure out of the family."""
        latents = draft.sizes.keys()
        above = [draft.parents[name] for name in draft.columns]
        is_attached = self.attached or self.family != "glc"
        if is_attached and any(parents.isdisjoint(latents) for parents in above):
            return "has a column without a latent parent"
        if self.family == "glc":
            return None
        if not all(parents <= latents for parents in above):
            return "has a link between columns"
        if self.family == "ls":
            return None
        n_roots = sum(not draft.parents[name] for name in latents)
        if n_roots != 1 or any(len(parents) > 1 for parents in draft.parents.values()):
            return "is not a tree"
        if self.family == "lc" and len(latents) > 1:
            return "has several latent variables"
        return None


def _find_idleness(draft: Draft) -> str | None:
    if any(len(children) > 1 for children in draft.list_children().values()):
        return None
    return "has no latent variable with two children"


class Neighbour(NamedTuple):
    """A structure and the step that leads there."""

    draft: Draft
    operator: str = ""
    variables: tuple[str, ...] = ()
    n_states: int | None = None

    @property
    def change(self) -> Change:
        """What the step does."""
        return Change(self.operator, self.variables, self.n_states)


@dataclass(frozen=True)
class Screen:
    """Pairs of columns that links may be added between, or that may get a common latent parent."""

    partners: Mapping[str, frozenset[str]]
    has_triples: bool = False

    @classmethod
    def open(cls, columns: Sequence[str]) -> Screen:
        """Let everything pass."""
        return cls({name: frozenset(columns) - {name} for name in columns}, has_triples=True)

    @classmethod
    def of_pairs(cls, columns: Sequence[str], pairs: Collection[tuple[str, str]]) -> Screen:
        """Let some pairs pass."""
        partners: dict[str, set[str]] = {name: set() for name in columns}
        for a, b in pairs:
            partners[a].add(b)
            partners[b].add(a)
        return cls({name: frozenset(others) for name, others in partners.items()})

    def lets_link(self, draft: Draft, parent: str, child: str) -> bool:
        """Whether a link may be added: of columns that are a pair, or of which one is below."""
        if child not in self.partners:
            return True  # latent links
        if parent in self.partners:
            return parent in self.partners[child]
        return not self.partners[child].isdisjoint(draft.list_children()[parent])

    def list_groups(self, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield pairs, and triples where columns are few; latent variables go with everything."""
        for group in combinations(names, 2):
            a, b = group
            if a not in self.partners or b not in self.partners or b in self.partners[a]:
                yield group
        if self.has_triples:
            yield from combinations(names, 3)


def list_neighbours(draft: Draft, rules: GlcRules, screen: Screen) -> Iterator[Neighbour]:
    """Yield the structures one step away that may be visited, in an order fixed by names."""
    for list_some in _STEPS:
        for found in list_some(draft, screen):
            if found.draft.is_acyclic() and rules.allow(found.draft):
                yield found


def _toggle_links(draft: Draft, screen: Screen) -> Iterator[Neighbour]:
    """Add, remove and turn around links."""
    for child in draft.names:
        for parent in draft.list_possible_parents(child):
            above = draft.parents[child]
            link = (parent, child)
            if parent in above:
                without = draft.rewired({child: above - {parent}})
                yield Neighbour(without, "link removal", link)
                if (parent in draft.sizes) == (child in draft.sizes):
                    turned = {parent: draft.parents[parent] | {child}}
                    yield Neighbour(without.rewired(turned), "link reversal", link)
            elif screen.lets_link(draft, parent, child):
                yield Neighbour(draft.rewired({child: above | {parent}}), "link addition", link)


def _replace_parents(draft: Draft, screen: Screen) -> Iterator[Neighbour]:
    for child in draft.names:
        above = draft.parents[child]
        for parent in draft.list_possible_parents(child):
            if parent in above or not screen.lets_link(draft, parent, child):
                continue
            for old in sorted(above):
                changed = draft.rewired({child: above - {old} | {parent}})
                yield Neighbour(changed, "parent replacement", (old, parent, child))


def _change_states(draft: Draft, screen: Screen) -> Iterator[Neighbour]:
    for name, size in draft.sizes.items():
        more, fewer = size + 1, size - 1
        yield Neighbour(draft.resized(name, more), "state introduction", (name,), more)
        if size > 2:
            yield Neighbour(draft.resized(name, fewer), "state deletion", (name,), fewer)


def _trade_states(draft: Draft, screen: Screen) -> Iterator[Neighbour]:
    """Replace a state by a link between two children, which a state often stands for."""
    for name, size in draft.sizes.items():
        children = [child for child in draft.list_children()[name] if child in screen.partners]
        for a, b in combinations(children if size > 2 else (), 2):
            if b in screen.partners[a] and a not in draft.parents[b] and b not in draft.parents[a]:
                fewer = draft.resized(name, size - 1)
                linked = fewer.rewired({b: draft.parents[b] | {a}})
                yield Neighbour(linked, "state for link", (name, a, b))


def _add_roots(draft: Draft, screen: Screen) -> Iterator[Neighbour]:
    """Put a new latent variable above columns, which keep their parents."""
    new = name_new_latent(draft.parents)
    for group in screen.list_groups(draft.columns):
        changes = {name: draft.parents[name] | {new} for name in group}
        added = draft.with_latent(new, 2, changes)
        yield Neighbour(added, "root introduction", (new, *group))


def put_latent_for_links(draft: Draft) -> Iterator[Neighbour]:
    """Put a new latent variable above three columns that are linked, in the place of the links."""
    new = name_new_latent(draft.parents)
    around: dict[str, set[str]] = {name: set() for name in draft.columns}
    for parent, child in draft.links:
        if parent in around:
            around[parent].add(child)
            around[child].add(parent)
    groups = {
        tuple(sorted((name, *pair)))
        for name, others in around.items()
        for pair in combinations(sorted(others), 2)
    }
    for group in sorted(groups):
        changes = {name: draft.parents[name] - {*group} | {new} for name in group}
        added = draft.with_latent(new, 2, changes)
        yield Neighbour(added, "node for links", (new, *group))


def _put_latents_for_links(draft: Draft, screen: Screen) -> Iterator[Neighbour]:
    """Put a latent variable in the place of links: a new one, or one above their other ends."""
    if screen.has_triples:
        return
    yield from put_latent_for_links(draft)
    for latent, children in draft.list_children().items():
        for name in draft.columns:
            below = {each for each in children if name in draft.parents[each]}
            if name in children or not (below or draft.parents[name].intersection(children)):
                continue
            changes = {name: draft.parents[name].difference(children) | {latent}}
            changes |= {each: draft.parents[each] - {name} for each in below}
            yield Neighbour(draft.rewired(changes), "latent for links", (latent, name))


def _split_latents(draft: Draft, screen: Screen) -> Iterator[Neighbour]:
    """Let a new latent variable take some of the children of an old one, below it or beside it."""
    new = name_new_latent(draft.parents)
    for old, children in draft.list_children().items():
        for group in screen.list_groups(children):
            changes = {name: draft.parents[name] - {old} | {new} for name in group}
            beside = draft.with_latent(new, 2, changes)
            below = beside.rewired({new: frozenset([old])})
            yield Neighbour(below, "node introduction", (old, new, *group))
            yield Neighbour(beside, "node introduction, no link", (old, new, *group))


def _remove_latents(draft: Draft, screen: Screen) -> Iterator[Neighbour]:
    """Remove a latent variable; its children lose it, or go to its parents, or to its children."""
    for name in draft.sizes:
        yield Neighbour(draft.without(name, frozenset()), "node deletion", (name,))
        if draft.parents[name]:
            yield Neighbour(draft.without(name, draft.parents[name]), "node deletion", (name,))
        for child in draft.list_children()[name]:
            if child in draft.sizes and draft.parents[child] == {name}:
                turned = draft.rewired({child: frozenset(), name: draft.parents[name] | {child}})
                without = turned.without(name, frozenset([child]))
                yield Neighbour(without, "node deletion", (name, child))


_STEPS: tuple[Callable[[Draft, Screen], Iterator[Neighbour]], ...] = (
    _toggle_links,
    _replace_parents,
    _change_states,
    _trade_states,
    _add_roots,
    _put_latents_for_links,
    _split_latents,
    _remove_latents,
)
