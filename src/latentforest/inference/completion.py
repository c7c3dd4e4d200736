"""Expected counts of rows that are completed by the posterior of their latent variables.

The completed table is never written out: see ``kernels.regions.completion``.
"""

from __future__ import annotations

import itertools

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.kernels.regions.completion import (
    HubPosteriors,
    Walk,
    complete_hub,
    count_pairs,
    count_triples,
)
from latentforest.kernels.types import FloatArray
from latentforest.kernels.vector import LANES


class HubCompletion:
    """Posteriors of latent variables for all rows, and counts of variables with them.

    Posteriors must be there (``complete``) of what is asked for.
    """

    def __init__(self, messages: Messages) -> None:
        self.messages, arms = messages, messages.arms
        widths = arms.width[arms.first[:-1]]
        ends = np.cumsum([messages.data.n_rows * _pad(width) for width in widths])
        places = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        self._posteriors = HubPosteriors(np.empty(int(ends[-1])), places)

    def complete(self, hub: str) -> None:
        """Compute the posterior of a latent variable."""
        messages = self.messages
        complete_hub(messages.arms, messages.values, self._posteriors, messages.number[hub])

    def masses(self, hub: str) -> FloatArray:
        """P(hub | row) times the weight of the row, ``(n_rows, n_states)``."""
        width = self.messages.card(hub)
        place, row = int(self._posteriors.places[self.messages.number[hub]]), _pad(width)
        end = place + self.messages.data.n_rows * row
        return self._posteriors.values[place:end].reshape(-1, row)[:, :width]

    def count_triples(self, hub: str, left: str) -> FloatArray:
        """Count a hub with one of its neighbours and each of those after it.

        Returns
        -------
        counts
            ``(n_right, n_states of the left one, most states of a right one, n_states of the
            hub)``; states that a variable does not have count nothing, nor do continuous columns.
        """
        arms, a = self.messages.arms, self.messages.arm(hub, left)
        last = int(arms.first[self.messages.number[hub] + 1])
        most, row = int(arms.card[a + 1 : last].max()), _pad(arms.width[a])
        counts = np.zeros((last - a - 1, int(arms.card[a]) * most * row))
        count_triples(arms, self.messages.values, self._posteriors, a, most, counts)
        shaped = counts.reshape(len(counts), int(arms.card[a]), most, row)
        return shaped[..., : int(arms.width[a])]

    def count_walk(
        self, hub: str, neighbour: str, targets: set[str], masses: FloatArray | None = None
    ) -> tuple[list[str], FloatArray]:
        """Count a neighbour of a hub with other latent variables, which are reached from there.

        With ``masses`` of all rows, ``(n_rows, n_states)``, the hub itself is counted, the rows
        weighing as much. Returns the names of the targets on the way, and counts that are padded to
        as many states.
        """
        walk, names = self._find_walk(hub, neighbour, targets)
        posteriors, messages = self._posteriors, self.messages
        if masses is not None:
            beside = next(z for z in messages.neighbours(hub) if z in messages.number)
            padded = np.zeros((len(masses), _pad(masses.shape[1])))
            padded[:, : masses.shape[1]] = masses
            posteriors = HubPosteriors(padded.ravel(), np.zeros(len(messages.hubs), np.int64))
            walk = walk._replace(arm=messages.arm(beside, hub))  # has the states of the hub
        wanted = list(itertools.compress(names, walk.is_wanted == 1))
        return wanted, self._take_walk(walk, posteriors)

    def _take_walk(self, walk: Walk, posteriors: HubPosteriors) -> FloatArray:
        """Count a variable with those of a walk that are wanted."""
        arms, values = self.messages.arms, self.messages.values
        card, row = int(arms.card[walk.arm]), _pad(arms.width.max())
        counts = np.zeros((len(walk.hubs), card * row))
        count_pairs(arms, values, posteriors, walk, counts)
        wanted: FloatArray = counts[walk.is_wanted == 1]
        return wanted.reshape(-1, card, row)

    def _find_walk(self, hub: str, neighbour: str, targets: set[str]) -> tuple[Walk, list[str]]:
        """Find the way from a neighbour of a hub to all targets, and the names on it."""
        messages, number = self.messages, self.messages.number
        came_from = {hub: neighbour}
        names = [hub]
        for here in names:  # grows
            for z in messages.neighbours(here):
                if z in number and z != came_from[here]:
                    came_from[z] = here
                    names.append(z)
        passed = {hub}
        for target in targets:
            while target not in passed:
                passed.add(target)
                target = came_from[target]
        names = [name for name in names if name in passed]
        if neighbour in number:
            names.insert(0, neighbour)
        place = {name: i for i, name in enumerate(names)}
        steps = [messages.arm(came_from[name], name) for name in names[1:]]
        walk = Walk(
            arm=messages.arm(hub, neighbour),
            hubs=np.array([number[name] for name in names], np.int64),
            steps=np.array([-1, *steps], np.int64),
            before=np.array([-1, *(place[came_from[name]] for name in names[1:])], np.int64),
            is_wanted=np.array([name in targets for name in names], np.int64),
        )
        return walk, names


def _pad(n_states: int) -> int:
    """Round up to whole vectors, as the kernels do."""
    return -(-int(n_states) // LANES) * LANES
