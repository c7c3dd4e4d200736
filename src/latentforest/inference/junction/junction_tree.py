"""The engine for networks that are not forests: a junction tree over patterns of rows.

Complete columns condition the network, so that only latent variables and missing cells are summed
over (``clique_tree``). One triangulation serves all rows; inside a clique, only the cells that
agree with a row are visited (``clique_plan``). If a clique is too wide for that, rows are taken
together by what is missing in them, and each such set has cliques of its own (``row_layouts``).
Continuous columns are ``dense_gaussians``.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, TypeVar

import numpy as np

from latentforest.errors import ModelError
from latentforest.inference.blocks import GaussianBlock, find_family_blocks
from latentforest.inference.forest import PatternedData, check_columns
from latentforest.inference.junction.clique_plan import (
    MAX_CELLS,
    LaidRows,
    TooWideError,
)
from latentforest.inference.junction.clique_tree import (
    FactorItem,
    find_strides,
)
from latentforest.inference.junction.dense_gaussians import ClusterRows
from latentforest.inference.junction.row_layouts import RowLayouts
from latentforest.inference.plan import place_sums
from latentforest.inference.threads import map_threads
from latentforest.kernels.cliques.climb import climb_cliques, find_steps
from latentforest.kernels.cliques.propagation import (
    BEST,
    DRAW,
    LOG_SCALE,
    SUM,
    ascend,
    descend,
    follow,
)
from latentforest.kernels.loop import Method, Run
from latentforest.kernels.types import AnyArray, FloatArray, IntArray, LongArray
from latentforest.model.questions.elimination import (
    Factor,
    compute_joint,
    find_most_probable,
    multiply_out,
)
from latentforest.model.structure import Structure

FLOOR = 1e-270  # upper bound of an entry that underflow would remove
LOSS = 1e-12  # difference of log-likelihoods that rows may have because of lost entries
NO_NUMBERS = np.zeros((0, 0))
ROWS_AT_ONCE = 1 << 12  # rows that are followed down in one call

Result = TypeVar("Result")


class Memory(NamedTuple):
    """Working memory of a propagation."""

    buffer: FloatArray
    weights: FloatArray
    shifts: IntArray


class JunctionTree:
    """Any network laid out over a table.

    Parameters
    ----------
    structure
        Its observed variables are columns of the table with the same states.
    data
        The table.
    free
        Variables whose tables are estimated; default all.
    is_variational
        Whether vectors are potentials of a posterior, not parameters.
    max_cells
        Most cells of a clique's table.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> table = load("hiv-tests")
    >>> parents = {"C": ("A", "B")}
    >>> engine = JunctionTree(Structure(table.variables, parents), PatternedData(table))
    >>> log_likelihood, impossible = engine.log_likelihood(np.full(engine.n_values, 0.5))
    >>> round(log_likelihood, 2), impossible
    (-1186.67, 0.0)
    """

    kind = "junction tree"

    def __init__(
        self,
        structure: Structure,
        data: PatternedData,
        free: Collection[str] | None = None,
        is_variational: bool = False,
        max_cells: int = MAX_CELLS,
    ) -> None:
        check_columns(structure, data)
        self.structure, self.data, self.max_cells = structure, data, max_cells
        self.is_variational = is_variational
        self.shared: frozenset[str] = frozenset()  # variances are those of each configuration
        self.equal: frozenset[str] = frozenset()
        self.free = [name for name in structure.names if free is None or name in free]
        self._sums, self.n_counts = place_sums(structure, find_family_blocks(structure))
        if is_variational and structure.continuous:
            raise ModelError(
                "variational Bayes with continuous columns needs a forest, in which no variable "
                "has two categorical parents"
            )
        self._layouts = RowLayouts(structure, data, max_cells)
        self._columns, self._gaps = self._layouts.columns, self._layouts.gaps
        self._lock = threading.Lock()
        self._laid: list[LaidRows] | None = None
        self._idle: list[list[Memory]] = []

    @property
    def _parts(self) -> list[LaidRows]:
        """All rows, laid out for fits when that is first needed."""
        with self._lock:
            if self._laid is None:
                self._laid = self._layouts.lay_out((), ())
                self._idle = [[] for _ in self._laid]
            return self._laid

    @property
    def n_values(self) -> int:
        """Length of the parameter vector."""
        return self.structure.n_values

    @property
    def cost(self) -> int:
        """About how many numbers an iteration of EM touches."""
        return 1 + sum(part.cost for part in self._parts)

    def expected_counts(self, theta: FloatArray, counts: FloatArray) -> tuple[float, float]:
        """Fill ``counts`` with the expected counts of all rows, laid out like the parameters.

        Returns the log-likelihood of the rows of positive probability, and the weight of the
        others; each connected part of what is left after conditioning is judged by itself. A row
        without a value for a leaf adds nothing to that leaf's counts.
        """

        def expect(p: int) -> tuple[float, float, FloatArray]:
            here = np.zeros(self.n_counts)
            return *self._propagate(p, theta, here), here

        counts[:] = 0.0
        log_likelihood, impossible = 0.0, 0.0
        for value, lost, here in self._over_parts(expect):
            counts += here
            log_likelihood += value
            impossible += lost
        return log_likelihood, impossible

    def log_likelihood(self, theta: FloatArray) -> tuple[float, float]:
        """Log-likelihood of the rows of positive probability, and the weight of the others."""
        results = self._over_parts(lambda p: self._propagate(p, theta, None))
        values, lost = zip(*results, strict=True)
        if sum(lost) > 0:  # a row may be impossible for several reasons
            rows, weights = self._merged_rows(theta), self.data.dataset.weights
            possible = rows > -np.inf
            return float(weights[possible] @ rows[possible]), float(weights[~possible].sum())
        return float(sum(values)), float(sum(lost))

    def row_log_likelihoods(self, theta: FloatArray) -> FloatArray:
        """Log-likelihood of each row of the table; minus infinity for probability zero."""
        return self.data.spread([self._merged_rows(theta)])

    def posteriors(self, theta: FloatArray, names: Sequence[str]) -> list[FloatArray]:
        """Return ``P(variable | row)`` of some categorical variables, ``(n_rows, n_states)`` each.

        A row gets ``nan`` if the connected part of the network that the variable is in cannot have
        given it.
        """
        return [self.data.spread([found]) for found in self._find(theta, [(n,) for n in names])]

    def family_posteriors(self, theta: FloatArray, names: Sequence[str]) -> list[FloatArray]:
        """Return ``P(parents, variable | row)``, an axis for the rows and for each variable."""
        families = [(*self.structure.parents(name), name) for name in names]
        found = self._find(theta, families)
        return [
            self.data.spread([each.reshape(-1, *self.structure.shape(name))])
            for name, each in zip(names, found, strict=True)
        ]

    @property
    def blocks(self) -> list[GaussianBlock]:
        """Pouches, and continuous variables with continuous parents, each with these."""
        return list(find_family_blocks(self.structure))

    def place_sums(self) -> tuple[dict[str, int], int]:
        """Places of the sums of continuous variables in a vector of counts, and its length."""
        return self._sums, self.n_counts

    @property
    def is_one_call(self) -> bool:
        """Whether EM can run in one compiled call."""
        is_plain = not self.structure.continuous and not self.is_variational
        return is_plain and len(self._parts) == 1

    def climb(
        self, method: Method, potentials: FloatArray, run: Run
    ) -> tuple[int, float, bool, bool]:
        """Run the compiled loop: see ``kernels.loop``. Tells whether messages were scaled, too."""
        (part,) = self._parts
        with self._memory(0, run.starts[0]) as (buffer, weights, shifts):
            found = climb_cliques(
                part.plan,
                buffer,
                shifts,
                weights,
                part.known,
                find_steps(method),
                *run,
            )
            return *found, bool(shifts[-1])

    # Propagation

    @contextmanager
    def _memory(self, p: int, theta: FloatArray) -> Iterator[Memory]:
        """Working memory with the parameters in their place."""
        part = self._parts[p]
        with self._lock:
            memory = self._idle[p].pop() if self._idle[p] else None
        if memory is None:
            buffer = np.zeros(part.n_buffer)
            buffer[part.ones] = 1.0
            memory = Memory(buffer, np.zeros_like(buffer), np.zeros(part.n_buffer + 1, np.int32))
        memory.buffer[: self.n_values] = theta
        yield memory
        with self._lock:
            self._idle[p].append(memory)

    def _over_parts(self, function: Callable[[int], Result]) -> Iterable[Result]:
        return map_threads(function, range(len(self._parts)), self.data.n_jobs)

    def _propagate(
        self, p: int, theta: FloatArray, counts: FloatArray | None
    ) -> tuple[float, float]:
        """Log-likelihood of a part and the weight of its impossible rows; fills the counts."""
        part = self._parts[p]
        with self._memory(p, theta) as memory:
            offsets = self._fill(part, theta, memory.buffer)
            values, doubtful = _judge(part, memory)
            weights = part.plan.weights
            trusted = weights * ~doubtful
            log_likelihood = float(trusted[trusted > 0] @ values[trusted > 0])
            if counts is not None:
                descend(part.plan._replace(weights=trusted), *_swap(memory))
                counts[: self.n_values] += memory.weights[: self.n_values]
                for key, dense in part.dense.items():
                    share = memory.weights[dense.slice].reshape(-1, dense.size)
                    patterns = self._values(part, key)
                    part.measured[key].collect(theta, patterns, share, self._sums, counts)
        rescued, impossible = 0.0, 0.0
        here = self.data.dataset.weights[part.rows]
        log_likelihood += float(here @ offsets.sum(axis=1))
        for entry in np.flatnonzero(doubtful & (weights > 0)):
            value = self._rescue(part, theta, int(entry), float(weights[entry]), counts)
            at = part.roots == part.plan.roots[entry]
            rescued -= float((here[:, None] * at * offsets).sum())  # it has its own
            if value > -np.inf:
                rescued += float(weights[entry]) * value
            else:
                impossible += float(weights[entry])
        looked, lost = self._look_up(part, theta, counts)
        looked += self._measure_alone(part, theta, counts)
        return log_likelihood + rescued + looked, impossible + lost

    def _values(self, part: LaidRows, key: str) -> ClusterRows:
        """Values of a cluster's columns in each of its patterns."""
        return part.measured[key].read(part.rows[part.dense[key].patterns.first])

    def _measure_alone(self, part: LaidRows, theta: FloatArray, counts: FloatArray | None) -> float:
        """Add what clusters say that all categorical variables above are given for."""
        weights, value = self.data.dataset.weights[part.rows], 0.0
        for factor in part.alone:
            rows = factor.read(part.rows)
            value += float(weights @ factor.log_densities(theta, rows)[:, 0])
            if counts is not None:
                factor.collect(theta, rows, weights[:, None], self._sums, counts)
        return value

    def _fill(self, part: LaidRows, theta: FloatArray, buffer: FloatArray) -> FloatArray:
        """Fill the dense messages, each over its largest entry.

        Returns the logarithms of these, summed for each row and tree.
        """
        offsets = np.zeros((len(part.rows), len(part.trees)))
        for tree in range(len(part.trees)):
            for item in part.tree.list_factors(tree):
                if item.is_dense:
                    dense, values = part.dense[item.name], self._values(part, item.name)
                    logs = part.measured[item.name].log_densities(theta, values)
                    largest = logs.max(axis=1)
                    buffer[dense.slice] = np.exp(logs - largest[:, None]).ravel()
                    offsets[:, tree] += largest[dense.patterns.codes]
        return offsets

    def _look_up(
        self, part: LaidRows, theta: FloatArray, counts: FloatArray | None
    ) -> tuple[float, float]:
        """Add what families without open members say."""
        value, lost = 0.0, 0.0
        for lookup in part.lookups:
            used = np.flatnonzero(lookup.counts > 0)
            there = used[theta[used] > 0]
            value += float(lookup.counts[there] @ np.log(theta[there]))
            lost += float(lookup.counts[used].sum() - lookup.counts[there].sum())
            if counts is not None:
                counts[there] += lookup.counts[there]
        return value, lost

    def _merged_rows(self, theta: FloatArray) -> FloatArray:
        rows = np.zeros(self.data.n_rows)
        for p, part in enumerate(self._parts):
            rows[part.rows] = self._rows_of(p, theta)
        return rows

    def _rows_of(self, p: int, theta: FloatArray) -> FloatArray:
        """Log-likelihood of the rows of a part."""
        part, rows = self._parts[p], np.zeros(len(self._parts[p].rows))
        with self._memory(p, theta) as memory:
            offsets = self._fill(part, theta, memory.buffer)
            values, doubtful = _judge(part, memory)
        at_place, is_rescued = np.zeros(part.n_buffer), np.zeros(part.n_buffer, bool)
        is_rescued[part.plan.roots[doubtful]] = True
        for entry in np.flatnonzero(doubtful):
            values[entry] = self._rescue(part, theta, int(entry), 0.0, None)
        at_place[part.plan.roots] = values
        for places, offset in zip(part.roots.T, offsets.T, strict=True):
            rows += at_place[places] + np.where(is_rescued[places], 0.0, offset)
        for lookup in part.lookups:
            there = lookup.entries >= 0
            with np.errstate(divide="ignore"):
                rows[there] += np.log(theta[lookup.entries[there]])
        for factor in part.alone:
            rows += factor.log_densities(theta, factor.read(part.rows))[:, 0]
        return rows

    # Rows that vanish

    def _rescue(
        self,
        part: LaidRows,
        theta: FloatArray,
        entry: int,
        weight: float,
        counts: FloatArray | None,
    ) -> float:
        """Compute a root pattern in logarithms: slow, but it never underflows."""
        place = part.plan.roots[entry]
        row, tree = (int(i[0]) for i in np.nonzero(part.roots == place))
        items = part.tree.list_factors(tree)
        codes = {name: int(column[part.rows[row]]) for name, column in self._columns.items()}
        closed = {name for name in part.tree.closed if codes[name] < 0}
        items = [item for item in items if item.name not in closed]
        factors = [self._read(part, item, theta, codes, part.rows[row]) for item in items]
        cards = {n: self.structure.shape(n)[-1] for f in factors for n in f.scope}
        value = float(multiply_out(factors, cards, ()))
        if counts is None or value == -np.inf:
            return value
        for item, factor in zip(items, factors, strict=True):
            posterior = np.exp(multiply_out(factors, cards, factor.scope) - value)
            if item.is_dense:
                gaussian = part.measured[item.name]
                share = np.zeros(gaussian.cards)
                share[_slice(item, codes)] = weight * posterior
                here = gaussian.read(part.rows[row : row + 1])
                gaussian.collect(theta, here, share.reshape(1, -1), self._sums, counts)
                continue
            table = self.structure.table_view(counts, item.name)
            table[_slice(item, codes)] += weight * posterior
        return value

    def _read(
        self,
        part: LaidRows,
        item: FactorItem,
        theta: FloatArray,
        codes: dict[str, int],
        row: int,
    ) -> Factor:
        """Return the logarithm of a factor, sliced at the values of a row."""
        if item.is_dense:
            gaussian = part.measured[item.name]
            logs = gaussian.log_densities(theta, gaussian.read(np.array([row])))
            table = logs.reshape(gaussian.cards)
        else:
            with np.errstate(divide="ignore"):
                table = np.log(self.structure.table_view(theta, item.name))
        table = table[_slice(item, codes)]
        scope = tuple(m.name for m in item.members if codes.get(m.name, -1) < 0)
        return Factor(scope, np.asarray(table))

    # Posteriors

    def _find(self, theta: FloatArray, targets: Sequence[tuple[str, ...]]) -> list[FloatArray]:
        """Posteriors of sets of variables, over the merged rows, flat."""
        if not targets:
            return []
        for name in dict.fromkeys(name for target in targets for name in target):
            self.structure.variable(name)
        asked = frozenset(name for target in targets for name in target)
        try:
            engine = self._asking(asked, targets)
        except TooWideError:
            if len(targets) == 1:
                raise
            half = len(targets) // 2
            return [*self._find(theta, targets[:half]), *self._find(theta, targets[half:])]
        found = engine._follow(theta, targets)
        self._repair(theta, targets, found)
        return found

    def _repair(
        self, theta: FloatArray, targets: Sequence[tuple[str, ...]], found: list[FloatArray]
    ) -> None:
        """Compute rows that vanished by elimination, one by one; impossible ones stay ``nan``."""
        for target, posterior in zip(targets, found, strict=True):
            for row in np.flatnonzero(np.isnan(posterior).any(axis=1)):
                evidence = self._evidence(int(row))
                asked = tuple(name for name in target if name not in evidence)
                shape = tuple(self.structure.shape(name)[-1] for name in target)
                index = tuple(int(evidence[n]) if n in evidence else slice(None) for n in target)
                table = np.zeros(shape)
                with suppress(ModelError):
                    table[index] = compute_joint(self.structure, theta, asked, evidence)
                    posterior[row] = table.ravel()

    def _evidence(self, row: int) -> dict[str, float]:
        """The values of a merged row, codes of the categorical ones."""
        codes = {name: int(column[row]) for name, column in self._columns.items()}
        numbers = {n: float(self.data.dataset.column(n)[row]) for n in self.structure.continuous}
        return {
            **{name: code for name, code in codes.items() if code >= 0},
            **{name: value for name, value in numbers.items() if not math.isnan(value)},
        }

    def _asking(self, asked: frozenset[str], targets: Sequence[tuple[str, ...]]) -> JunctionTree:
        """The same engine, laid out so that some variables can be asked for."""
        other = JunctionTree.__new__(JunctionTree)
        other.__dict__.update(self.__dict__)
        other._lock = threading.Lock()
        other._laid = other._layouts.lay_out(asked, targets)
        other._idle = [[] for _ in other._laid]
        return other

    def _follow(self, theta: FloatArray, targets: Sequence[tuple[str, ...]]) -> list[FloatArray]:
        sizes = [math.prod(self.structure.shape(n)[-1] for n in t) for t in targets]
        starts = np.cumsum([0, *sizes])
        result = np.zeros((self.data.n_rows, starts[-1]))
        for p, part in enumerate(self._parts):
            result[part.rows] = self._follow_part(p, theta, int(starts[-1]))
        return [
            self._complete(target, result[:, low:high])
            for target, low, high in zip(targets, starts[:-1], starts[1:], strict=True)
        ]

    def _follow_part(self, p: int, theta: FloatArray, width: int) -> FloatArray:
        part = self._parts[p]
        result = np.zeros((len(part.rows), width))
        with self._ascended(p, theta, is_max=False) as descend_rows:
            descend_rows(part.roots, SUM, NO_NUMBERS, result)
        return result

    @contextmanager
    def _ascended(
        self, p: int, theta: FloatArray, is_max: bool
    ) -> Iterator[Callable[[LongArray, int, FloatArray, FloatArray], None]]:
        """Fill the messages of a part; gives the function that follows rows down."""
        part = self._parts[p]
        with self._memory(p, theta) as memory:
            buffer, weights, shifts = memory
            weights[:] = 0.0
            self._fill(part, theta, buffer)
            ascend(part.plan, buffer, shifts, is_max, 0.0)

            def descend_rows(
                roots: LongArray, action: int, random: FloatArray, result: FloatArray
            ) -> None:
                follow(
                    part.plan,
                    buffer,
                    shifts,
                    weights,
                    roots,
                    part.trees,
                    part.n_nodes,
                    action,
                    random,
                    result,
                )

            yield descend_rows

    def complete(
        self, theta: FloatArray, generator: np.random.Generator | None = None
    ) -> dict[str, IntArray]:
        """Return states of all latent variables and missing cells, for each row of the table.

        They are drawn from their joint posterior, row by row, or, without a generator, the most
        probable ones. Where a connected part of the network cannot have given a row, it has -1.
        """
        names = [*self.structure.latents, *(n for n in self._columns if n in self._gaps)]
        targets = [(name,) for name in names]
        engine = self._asking(frozenset(names), targets)
        cards = [self.structure.shape(name)[-1] for name in names]
        starts = np.cumsum([0, *cards])
        inverse = self.data.inverse
        given = np.arange(self.data.n_rows) if inverse is None else np.asarray(inverse)
        found = {name: np.full(len(given), -1, np.int32) for name in names}
        for p, part in enumerate(engine._parts):
            place = np.full(self.data.n_rows, -1)
            place[part.rows] = np.arange(len(part.rows))
            rows = np.flatnonzero(place[given] >= 0)
            with engine._ascended(p, theta, is_max=generator is None) as descend_rows:
                for low in range(0, len(rows), ROWS_AT_ONCE):
                    some = rows[low : low + ROWS_AT_ONCE]
                    result = np.zeros((len(some), int(starts[-1])))
                    n_numbers = 0 if generator is None else part.n_nodes
                    random = np.zeros((len(some), n_numbers))
                    if generator is not None:
                        random[:] = generator.random(random.shape)
                    action = BEST if generator is None else DRAW
                    descend_rows(part.roots[place[given[some]]], action, random, result)
                    for name, start, stop in zip(names, starts[:-1], starts[1:], strict=True):
                        states = result[:, start:stop]
                        is_found = states.any(axis=1)
                        found[name][some[is_found]] = states[is_found].argmax(axis=1)
        for name in names:
            if name in self._columns:
                codes = self._columns[name][given]
                found[name] = np.where(codes >= 0, codes, found[name]).astype(np.int32)
        self._complete_rest(theta, found, given, generator)
        return found

    def _complete_rest(
        self,
        theta: FloatArray,
        found: dict[str, IntArray],
        given: AnyArray,
        generator: np.random.Generator | None,
    ) -> None:
        """Complete rows that vanished by elimination; impossible ones stay as they are."""
        is_open = np.any([codes < 0 for codes in found.values()], axis=0) if found else ()
        for row in np.flatnonzero(is_open):
            evidence = self._evidence(int(given[row]))
            evidence |= {name: int(codes[row]) for name, codes in found.items() if codes[row] >= 0}
            names = [name for name, codes in found.items() if codes[row] < 0]
            with suppress(ModelError):
                states = self._eliminate(theta, names, evidence, generator)
                for name, state in states.items():
                    found[name][row] = state

    def _eliminate(
        self,
        theta: FloatArray,
        names: list[str],
        evidence: dict[str, float],
        generator: np.random.Generator | None,
    ) -> dict[str, int]:
        """States of some variables given the rest of a row: the most probable, or random ones."""
        if generator is None:
            return find_most_probable(self.structure, theta, tuple(names), evidence)
        states: dict[str, int] = {}
        for name in names:
            shares = compute_joint(self.structure, theta, (name,), {**evidence, **states})
            states[name] = int(generator.choice(len(shares), p=shares))
        return states

    def _complete(self, target: tuple[str, ...], found: FloatArray) -> FloatArray:
        """Shift the cells of a target to where its observed members are."""
        shape = [self.structure.shape(name)[-1] for name in target]
        shift = np.zeros(len(found), np.int64)
        is_open = np.zeros(len(found), bool)
        for name, stride in zip(target, find_strides(shape), strict=True):
            codes = self._columns.get(name)
            if codes is None:
                is_open[:] = True
                continue
            is_open |= codes < 0
            shift += stride * np.maximum(codes, 0)
        result = np.zeros_like(found)
        rows = np.arange(len(found))
        result[rows[~is_open], shift[~is_open]] = 1.0
        which, cells = np.nonzero(found)
        result[which, cells + shift[which]] = found[which, cells]
        with np.errstate(invalid="ignore", divide="ignore"):
            result /= result.sum(axis=1, keepdims=True)
        return result


def _slice(item: FactorItem, codes: dict[str, int]) -> tuple[int | slice, ...]:
    """Index of the part of a table that agrees with a row."""
    found = [codes.get(member.name, -1) for member in item.members]
    return tuple(slice(None) if code < 0 else code for code in found)


def _swap(memory: Memory) -> tuple[FloatArray, IntArray, FloatArray]:
    return memory.buffer, memory.shifts, memory.weights


def _judge(part: LaidRows, memory: Memory) -> tuple[FloatArray, AnyArray]:
    """Log-likelihoods of the root patterns, and which of them underflow makes doubtful."""
    plan, (buffer, _, shifts) = part.plan, memory
    is_scaled = ascend(plan, buffer, shifts, False, 0.0)
    values = _read_roots(plan.roots, buffer, shifts)
    doubtful = values == -np.inf
    if is_scaled:  # lost entries may matter again: compare with an upper bound
        ascend(plan, buffer, shifts, False, FLOOR)
        upper = _read_roots(plan.roots, buffer, shifts)
        doubtful |= ~(upper - values <= LOSS)
        ascend(plan, buffer, shifts, False, 0.0)
    return values, doubtful


def _read_roots(roots: LongArray, buffer: FloatArray, shifts: IntArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(buffer[roots]) - LOG_SCALE * shifts[roots])
