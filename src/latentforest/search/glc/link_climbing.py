"""Structural EM: many links of columns change at once, by expected counts, between two fits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from latentforest.search.glc.draft import Draft, Parents
from latentforest.search.glc.expected_families import ExpectedFamilies
from latentforest.search.glc.neighbours import GlcRules
from latentforest.ties import sort_best_first

LEAST_GAIN = 0.01


class LinkMove(NamedTuple):
    """New parents of one or two columns, and what that raises the expected score by."""

    changes: Parents
    gain: float


def climb_links(draft: Draft, rules: GlcRules, families: ExpectedFamilies, penalty: float) -> Draft:
    """Change links to columns one by one, the best first, until the expected score rises no more.

    The score is the expected log-likelihood less a penalty for each parameter. Links to columns are
    added, removed and turned around; latent parents only where posteriors are exact.
    """
    moves = {child: _list_moves(draft, child, families, penalty) for child in draft.columns}
    while True:
        listed = [move for child in draft.columns for move in moves[child]]
        changed = _apply_best(draft, listed, rules)
        if changed is None:
            return draft
        touched = {name for name in draft.columns if draft.parents[name] != changed.parents[name]}
        draft = changed
        for child in draft.columns:
            if child in touched or touched & draft.parents[child]:
                moves[child] = _list_moves(draft, child, families, penalty)


def estimate_gain(new: Draft, old: Draft, families: ExpectedFamilies, penalty: float) -> float:
    """Return what other parents of some variables raise the expected score by.

    The two drafts have the same variables, none of whose sizes differ.
    """
    changed = [name for name in new.names if new.parents[name] != old.parents[name]]
    return sum(
        _score(name, new.parents[name], families, penalty)
        - _score(name, old.parents[name], families, penalty)
        for name in changed
    )


def _score(
    child: str, parents: frozenset[str], families: ExpectedFamilies, penalty: float
) -> float:
    return families.score(child, parents) - penalty * families.count_parameters(child, parents)


def _list_moves(
    draft: Draft, child: str, families: ExpectedFamilies, penalty: float
) -> list[LinkMove]:
    """List the changes of a column's parents that raise the expected score."""
    now = _score(child, draft.parents[child], families, penalty)
    found = []
    for changes in _list_changes(draft, child):
        gain = _score(child, changes[child], families, penalty) - now
        for other, parents in changes.items():
            if other != child:
                gain += _score(other, parents, families, penalty)
                gain -= _score(other, draft.parents[other], families, penalty)
        if gain > LEAST_GAIN and all(
            families.is_exact({name, *parents}) for name, parents in changes.items()
        ):
            found.append(LinkMove(changes, gain))
    return found


def _list_changes(draft: Draft, child: str) -> Iterator[dict[str, frozenset[str]]]:
    above = draft.parents[child]
    for parent in draft.list_possible_parents(child):
        if parent not in above:
            yield {child: above | {parent}}
            continue
        yield {child: above - {parent}}
        if parent not in draft.sizes:
            yield {child: above - {parent}, parent: draft.parents[parent] | {child}}


def _apply_best(draft: Draft, moves: list[LinkMove], rules: GlcRules) -> Draft | None:
    """Apply the best move that leads to a structure that may be visited."""
    for place in sort_best_first([move.gain for move in moves]) if moves else ():
        changed = draft.rewired(moves[place].changes)
        if changed.is_acyclic() and rules.allow(changed):
            return changed
    return None
