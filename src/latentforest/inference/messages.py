"""Messages toward every latent variable of a forest, from all its neighbours.

Computed once for a network; all local fits around its latent variables share them. Where dozens of
leaves contradict each other, underflow may remove a state that would matter: ``agree_with`` tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from latentforest.errors import ModelError
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.patterns import Mask
from latentforest.kernels import layout
from latentforest.kernels.forest.propagation import make_steps
from latentforest.kernels.regions.arms import fill_tables, measure_trees, pass_messages
from latentforest.kernels.regions.types import EACH_ROW, N_FACTS, NOWHERE, Arms, Values
from latentforest.kernels.types import BoolArray, FloatArray, IntArray, LongArray
from latentforest.kernels.vector import LANES
from latentforest.model.network import Network
from latentforest.model.structure import Structure

AGREEMENT = 1e-6  # relative
SMALLEST = np.finfo(np.float64).min  # stands for the logarithm of zero


class Messages:
    """The arms of a network's latent variables, with their messages.

    Parameters
    ----------
    network
        A forest whose observed variables are leaves below latent ones, or alone.
    data
        The table.

    Attributes
    ----------
    hubs
        The latent variables.
    arms, values
        The arrays of the kernels.
    """

    def __init__(self, network: Network, data: PatternedData) -> None:
        self.network, self.data = network, data
        structure = network.structure
        check_latent_forest(structure)
        self.hubs = structure.latents
        self.number = {name: h for h, name in enumerate(self.hubs)}
        self.masks = _find_masks(structure, data)
        self._neighbours = {name: structure.neighbours(name) for name in self.hubs}
        self._cards = {name: structure.shape(name)[-1] for name in structure.names}
        builder = _Builder(self)
        self.arm_numbers, self.arms, self.values = builder.number, builder.arms, builder.values
        self.widest = max(map(self.card, self.hubs), default=0)
        pass_messages(self.arms, self.values)

    def neighbours(self, hub: str) -> tuple[str, ...]:
        """Names of the neighbours of a latent variable, in the order of its arms."""
        return self._neighbours[hub]

    def card(self, name: str) -> int:
        """Number of states of a variable."""
        return self._cards[name]

    def arm(self, hub: str, neighbour: str) -> int:
        """Number of the arm of a latent variable that starts with a neighbour."""
        return self.arm_numbers[hub, neighbour]

    def rest(self, hub: str, log_likelihood: float) -> float:
        """What other trees add to the log-likelihood of a network with several."""
        if len(self.network.structure.roots) == 1:
            return 0.0
        return log_likelihood - float(self._likelihoods[self.number[hub]])

    def agree_with(self, log_likelihood: float) -> bool:
        """Whether the messages give the log-likelihood, from wherever a tree is seen."""
        tops = _find_tops(self.network.structure)
        at_top = self._likelihoods[[self.number[tops[hub]] for hub in self.hubs]]
        roots = [self.number[hub] for hub in self.hubs if tops[hub] == hub]
        alone = self._measure_columns_alone()
        whole = float(self._likelihoods[roots].sum()) + alone
        with np.errstate(invalid="ignore"):  # minus infinity agrees with nothing
            away = np.abs(whole - at_top + self._likelihoods - log_likelihood)
        return bool(np.all(away <= AGREEMENT * max(1.0, abs(log_likelihood), abs(alone))))

    def _measure_columns_alone(self) -> float:
        """Log-likelihood of the columns that are in no tree."""
        structure = self.network.structure
        alone = [name for name in structure.roots if name not in self.number]
        if not alone:
            return 0.0
        variables = [structure.variable(name) for name in alone]
        pouches = [pouch for pouch in structure.pouches if pouch[0] in alone]
        tables = {name: self.network.table_view(name) for name in alone}
        network = Network.from_tables(variables, {}, tables, pouches)
        return Forest(network.structure, self.data).log_likelihood(network.parameters)[0]

    @cached_property
    def _likelihoods(self) -> FloatArray:
        """Log-likelihood of the tree of each latent variable, as it is seen from there."""
        return measure_trees(self.arms, self.values)

    def posterior(self, hub: str) -> FloatArray:
        """P(hub | row) for every row, ``(n_rows, n_states)``."""
        with np.errstate(divide="ignore"):
            logs = np.tile(np.log(self.table(hub)), (self.data.n_rows, 1))
            for neighbour in self.neighbours(hub):
                _, rows = self.read_arm(hub, neighbour)
                patterns = self.patterns(hub, neighbour)
                logs += np.log(rows if patterns is None else rows[patterns])
        shares = np.exp(logs - np.maximum(logs.max(axis=1), SMALLEST)[:, None])
        totals = np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        result: FloatArray = shares / totals
        return result

    def patterns(self, hub: str, neighbour: str) -> IntArray | None:
        """Pattern of an arm in each row; nothing if every row is one."""
        column = int(self.arms.column[self.arm(hub, neighbour)])
        return None if column == EACH_ROW else self.values.codes[column]

    def read_arm(self, hub: str, neighbour: str) -> tuple[FloatArray, FloatArray]:
        """Beliefs and messages of an arm, ``(n_patterns, n_states)``; a leaf has no beliefs."""
        a, values = self.arm(hub, neighbour), self.values
        n, belief = int(self.arms.n_patterns[a]), int(self.arms.belief[a])
        messages = _take(values.messages, int(self.arms.message[a]), n, self.card(hub))
        if belief == NOWHERE:
            return np.ones((n, 0)), messages
        return _take(values.beliefs, belief, n, self.card(neighbour)), messages

    def table(self, hub: str, neighbour: str | None = None) -> FloatArray:
        """P(neighbour | hub), or P(hub)."""
        width = self.card(hub)
        if neighbour is None:
            place = int(self.arms.prior[self.number[hub]])
            return self.values.tables[place : place + width]
        place = int(self.arms.table[self.arm(hub, neighbour)])
        card = self.card(neighbour)
        return self.values.tables[place : place + width * card].reshape(width, card)


def check_latent_forest(structure: Structure) -> None:
    """Refuse networks that are not forests of latent variables with observed leaves."""
    if not structure.is_forest:
        raise ModelError("a latent forest is needed, but a variable has several parents")
    for name in structure.observed:
        if structure.children(name):
            raise ModelError(
                f"observed variables must be leaves, but {name!r} has the children "
                f"{', '.join(structure.children(name))}"
            )
    for name in structure.latents:
        if not structure.neighbours(name):
            raise ModelError(f"the latent variable {name!r} has no neighbour")


def _find_tops(structure: Structure) -> dict[str, str]:
    """The root of each variable's tree."""
    tops: dict[str, str] = {}
    for name in structure.order:
        parents = structure.parents(name)
        tops[name] = tops[parents[0]] if parents else name
    return tops


def _find_masks(structure: Structure, data: PatternedData) -> dict[str, Mask]:
    """Observed variables at and below each variable."""
    masks: dict[str, Mask] = {}
    for name in reversed(structure.order):
        masks[name] = data.bits.get(name, 0)
        for child in structure.children(name):
            masks[name] |= masks[child]
    return masks


class _Builder:
    """Lays the arms out in arrays."""

    def __init__(self, messages: Messages) -> None:
        self.network, self.structure = messages.network, messages.network.structure
        self.data, self.masks = messages.data, messages.masks
        self.hub_numbers = messages.number
        self.pairs = [(hub, z) for hub in messages.hubs for z in messages.neighbours(hub)]
        self.number = {pair: a for a, pair in enumerate(self.pairs)}
        self.cards = {name: self.structure.shape(name)[-1] for name in self.structure.names}
        self.store = self.data.whole
        self.columns: list[IntArray] = []
        self.representatives: list[IntArray] = []
        self.n_representatives = 0
        patterns = [self._find_patterns(hub, z) for hub, z in self.pairs]
        column, n_patterns, start = (
            np.array(part, np.int64) for part in zip(*patterns, strict=True)
        )
        card = _integers([self.cards[z] for _, z in self.pairs])
        width = _integers([self.cards[hub] for hub, _ in self.pairs])
        is_latent = np.array([z in self.hub_numbers for _, z in self.pairs])
        is_number = np.array([z in self.structure.continuous for _, z in self.pairs])
        sizes = np.where(is_latent, n_patterns * _padded(card), 0)
        sizes[is_number] = _padded(N_FACTS + n_patterns[is_number])
        belief, n_beliefs = _place(sizes)
        message, n_messages = _place(n_patterns * _padded(width))
        degrees = [len(messages.neighbours(hub)) for hub in messages.hubs]
        widths = _integers([self.cards[hub] for hub in messages.hubs])
        places, _ = _place(np.concatenate([widths, width * card]))
        prior, table = places[: len(widths)], places[len(widths) :]
        self.arms = Arms(
            first=np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
            prior=prior,
            hub=_integers([self.hub_numbers[hub] for hub, _ in self.pairs]),
            source=_integers([self.hub_numbers.get(z, -1) for _, z in self.pairs]),
            reverse=_integers([self.number.get((z, hub), -1) for hub, z in self.pairs]),
            column=column,
            n_patterns=n_patterns,
            card=card,
            width=width,
            table=table,
            belief=np.where(is_latent, belief, NOWHERE),
            facts=np.where(is_number, belief, NOWHERE),
            message=message,
            start=start,
            order=self._find_order(),
            steps=_find_steps(is_number),
        )
        n_rows = self.data.n_rows
        self.values = Values(
            codes=np.stack(self.columns) if self.columns else np.zeros((0, n_rows), np.int32),
            representatives=np.concatenate([np.zeros(0, np.int32), *self.representatives]),
            weights=np.array(self.data.dataset.weights, np.float64),
            tables=self._find_tables(messages.hubs),
            beliefs=np.zeros(n_beliefs),
            messages=np.zeros(n_messages),
            constant=np.zeros(len(self.pairs)),
        )
        for a in np.flatnonzero(is_number):
            self._describe(self.pairs[a][1], self.values.beliefs[belief[a] : belief[a] + sizes[a]])

    def _describe(self, name: str, target: FloatArray) -> None:
        """Write the facts about a continuous column and the values of its patterns."""
        about, bit = self.data.summary(name), self.data.bits[name]
        target[:N_FACTS] = about.mean, about.variance, about.least_variance
        values = self.store.values(bit, [bit])[:, 0]
        target[N_FACTS : N_FACTS + len(values)] = values

    def _find_patterns(self, hub: str, neighbour: str) -> tuple[int, int, int]:
        """Column of patterns, their number, and where their first rows are listed."""
        if neighbour in self.structure.parents(hub):
            return EACH_ROW, self.data.n_rows, -1
        below = [self.masks[child] for child in self.structure.children(neighbour)]
        found = self.store.column(self.masks[neighbour], below)
        self.columns.append(found.codes)
        start = -1
        if below:
            start = self.n_representatives
            first = found.first if len(found.first) else _first_rows(found.codes, found.n_patterns)
            self.representatives.append(first)
            self.n_representatives += found.n_patterns
        return len(self.columns) - 1, found.n_patterns, start

    def _find_tables(self, hubs: Sequence[str]) -> FloatArray:
        """P(hub) of each latent variable, P(neighbour | hub) of each arm."""
        offsets, number = self.structure.offsets, self.hub_numbers
        own = _integers([offsets[hub] for hub in hubs])
        below = _integers([offsets[z] for _, z in self.pairs])
        order = _integers([number[name] for name in self.structure.order if name in number])
        return fill_tables(self.arms, np.array(self.network.parameters), own, below, order)

    def _find_order(self) -> LongArray:
        """Arms toward the roots from the leaves upward, then those away from them."""
        up, down = [], []
        for name in self.structure.order:
            for parent in self.structure.parents(name):
                up.append(self.number[parent, name])
                if (name, parent) in self.number:
                    down.append(self.number[name, parent])
        return _integers([*reversed(up), *down])


def _find_steps(is_number: BoolArray) -> LongArray:
    """Addresses of what the plans of regions need; that of continuous leaves if there are some."""
    steps = make_steps(has_base=True)
    if is_number.any():
        from latentforest.kernels.gaussian import leaf_steps  # compiles, so only when needed

        steps[layout.FILL_LEAVES] = leaf_steps.FILL_ADDRESS
        steps[layout.COLLECT_LEAVES] = leaf_steps.COLLECT_ADDRESS
    return steps


def find_marginals(network: Network) -> dict[str, FloatArray]:
    """P(variable) for every categorical variable of a forest."""
    marginals: dict[str, FloatArray] = {}
    for name in network.structure.order:
        parents = network.structure.parents(name)
        table = network.table_view(name)
        if name not in network.structure.continuous:
            marginals[name] = marginals[parents[0]] @ table if parents else np.array(table)
    return marginals


def _first_rows(codes: IntArray, n_patterns: int) -> IntArray:
    first = np.zeros(n_patterns, np.int32)
    first[codes[::-1]] = np.arange(len(codes), dtype=np.int32)[::-1]
    return first


def _integers(values: Sequence[int]) -> LongArray:
    return np.array(values, np.int64)


def _take(values: FloatArray, place: int, n: int, width: int) -> FloatArray:
    """Read vectors that are padded to whole vectors of the kernels."""
    row = -(-width // LANES) * LANES
    return values[place : place + n * row].reshape(n, row)[:, :width]


def _padded(n: LongArray) -> LongArray:
    return (n + LANES - 1) // LANES * LANES


def _place(sizes: LongArray) -> tuple[LongArray, int]:
    """Where parts of these sizes start, one after another, and where the last one ends."""
    ends = np.cumsum(sizes)
    return ends - sizes, int(ends[-1])
