"""A table prepared for the kernels, and forests laid out over it.

``PatternedData`` holds the rows in chunks with their pattern columns. ``Forest`` is one structure
over these rows: it gives log-likelihoods and expected counts for any parameters.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.errors import DataError, ModelError
from latentforest.inference.blocks import GaussianBlock, has_joint_blocks, measure_correlations
from latentforest.inference.columns import ColumnSummary, summarize
from latentforest.inference.patterns import Grouping, Mask, PatternStore, Recent, group_children
from latentforest.inference.plan import (
    MOST_BELOW,
    KnownNodes,
    build_plan,
    draw_forest,
    lay_trees,
    place_sums,
)
from latentforest.inference.posteriors import compute_family_posteriors, compute_posteriors
from latentforest.inference.threads import count_threads, map_threads
from latentforest.kernels.forest.climb import climb_forest, find_steps
from latentforest.kernels.forest.plan import Plan, Workspace, count_numbers, make_workspace
from latentforest.kernels.forest.propagation import propagate
from latentforest.kernels.forest.rescue import add_row, message_of_pattern
from latentforest.kernels.layout import (
    BELIEFS,
    BLOCK,
    COLUMN,
    GAUSSIAN,
    MESSAGES,
    N_FIELDS,
    N_PATTERNS,
    WEIGHTS,
    WIDTH,
)
from latentforest.kernels.loop import Method, Run
from latentforest.kernels.regions.types import RegionShape
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.kernels.vector import LANES
from latentforest.model.covariances import find_collinear, raise_eigenvalues
from latentforest.model.structure import Structure

CHUNK_ROWS = 1 << 16  # rows that are propagated at once; more are split, whatever the threads
CHUNK_CELLS = 1 << 24  # rows times columns that are propagated at once: bounds the memory
SAMPLE_ROWS = 1 << 12  # rows on which the grouping of children is decided
SAMPLE_CELLS = 1 << 23  # rows times columns of that sample
KEPT_BYTES = 1 << 26  # working memory that is kept for later use
COLUMN_BYTES = 1 << 28  # pattern columns that are kept of a chunk while it is laid out
CELL_BYTES = 32  # or so many for each of its cells, if that is more: enough for a whole tree
TRIMMED_BYTES = 1 << 23  # pattern columns that are kept of several chunks afterwards
NODE_BYTES = 1 << 27  # patterns of nodes that are kept for later structures
REGION_BYTES = 1 << 26  # products of messages around latent variables that are kept for later ones
LIST_BYTES = 80  # that a node keeps for each node below it
LEAST_NODES = 1 << 11  # that are kept in any case
SMALL_CELLS = 1 << 13  # rows times columns below which threads cost more than they save
MANY_CORRELATED = 1000  # continuous columns up to which all correlations are kept
NOTHING = np.empty(0)
FLOOR = 1e-270  # upper bound of an entry that underflow would remove or make imprecise
LOSS = 1e-12  # difference of log-likelihoods that rows may have because of lost entries

Result = TypeVar("Result")


class Chunk(NamedTuple):
    """Consecutive rows with their pattern columns and weights."""

    store: PatternStore
    weights: FloatArray


class PatternedData:
    """The columns of a table, equal rows merged, split into chunks of rows.

    Parameters
    ----------
    dataset
        Categorical and continuous columns.
    n_jobs
        Threads, for tables that are not small; results do not depend on it.
    chunk_rows
        Most rows of a chunk; by default as many as memory allows.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> data = PatternedData(load("hiv-tests"))
    >>> data.n_rows, data.total_weight
    (9, 428.0)
    """

    def __init__(
        self, dataset: Dataset, n_jobs: int | None = None, chunk_rows: int | None = None
    ) -> None:
        self.row_weights = dataset.weights
        merged, self.inverse = _merge(dataset)
        is_small = merged.n_rows * merged.n_columns <= SMALL_CELLS
        n_threads = count_threads(n_jobs)
        self.n_jobs = 1 if is_small else n_threads
        self.dataset = merged
        self.n_rows = merged.n_rows
        self.total_weight = float(merged.total_weight)
        self.bits = {name: 1 << j for j, name in enumerate(merged.names)}
        self.rows: dict[str, Mask] = {}
        self._cards = [len(variable.states or ()) for variable in merged.variables]
        most = min(CHUNK_ROWS, max(CHUNK_CELLS // len(self._cards), 1))
        n_chunks = -(-self.n_rows // (most if chunk_rows is None else min(most, chunk_rows)))
        self._edges = np.linspace(0, self.n_rows, n_chunks + 1).astype(int)
        self.chunks = [
            Chunk(self._store(slice(low, high)), merged.weights[low:high])
            for low, high in zip(self._edges[:-1], self._edges[1:], strict=True)
        ]
        step = -(-self.n_rows // min(SAMPLE_ROWS, max(SAMPLE_CELLS // len(self._cards), 1)))
        self.sample = self.chunks[0].store if step == 1 else self._store(slice(None, None, step))
        self._groupings: dict[tuple[Mask, ...], Grouping] = {}
        self._nodes: KnownNodes = {}
        self.checked: tuple[str, ...] = ()  # variables of a structure that agree with the columns
        self.regions: Recent[tuple[int, ...], RegionShape] = Recent(REGION_BYTES)
        self._summaries: dict[str, ColumnSummary] = {}
        self.continuous = [v.name for v in merged.variables if not v.is_categorical]
        self._correlations: tuple[FloatArray, FloatArray] | None = None
        self._whole: PatternStore | None = self.chunks[0].store if n_chunks == 1 else None

    @property
    def whole(self) -> PatternStore:
        """Pattern columns over all rows at once."""
        if self._whole is None:
            self._whole = self._store(slice(None))
        return self._whole

    def store_of(self, rows: LongArray) -> PatternStore:
        """Make pattern columns of some (merged) rows."""
        return PatternStore([column[rows] for column in self.dataset.columns], self._cards)

    def _store(self, rows: slice) -> PatternStore:
        columns = [column[rows] for column in self.dataset.columns]
        n_cells = len(columns) * len(columns[0])
        return PatternStore(columns, self._cards, max(COLUMN_BYTES, CELL_BYTES * n_cells))

    def group(self, masks: tuple[Mask, ...]) -> Grouping:
        """Group the children of a node, deciding on a sample and then on the first chunk."""
        if masks not in self._groupings:
            grouping = group_children(self.sample, masks)
            if self.sample is not self.chunks[0].store:
                rest = group_children(self.chunks[0].store, grouping.tops)
                grouping = Grouping(rest.tops, grouping.merges + rest.merges)
            self._groupings[masks] = grouping
        return self._groupings[masks]

    def known_nodes(self) -> KnownNodes:
        """Nodes that forests over the table have in common; not more than memory allows."""
        size = 8 * self.chunks[0].store.n_rows + LIST_BYTES * min(len(self.bits), MOST_BELOW)
        if len(self._nodes) > max(NODE_BYTES // size, LEAST_NODES):
            self._nodes = {}
        return self._nodes

    def summary(self, name: str) -> ColumnSummary:
        """Return mean, variance and least variance of a continuous column."""
        if name not in self._summaries:
            values, weights = self.dataset.column(name), self.dataset.weights
            self._summaries[name] = summarize(name, values, weights)
        return self._summaries[name]

    def correlations(self, names: tuple[str, ...]) -> FloatArray:
        """Return the correlations of some continuous columns, made positive definite."""
        return self._correlate(names)[1]

    def find_collinear(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Name the columns among some that are nearly linear functions of others among them."""
        measured, raised = self._correlate(names)
        if len(names) < 2 or np.array_equal(measured, raised):
            return ()
        return tuple(names[j] for j in find_collinear(measured))

    def _correlate(self, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Correlations of some columns, as they are and with small eigenvalues raised."""
        if len(self.continuous) > MANY_CORRELATED:
            return self._measure_correlations(names)
        if self._correlations is None:
            self._places = {n: i for i, n in enumerate(self.continuous)}
            self._correlations = self._measure_correlations(self.continuous)
        places = [self._places[name] for name in names]
        measured, raised = (each[np.ix_(places, places)] for each in self._correlations)
        return measured, raised

    def _measure_correlations(self, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        columns = [self.dataset.column(name) for name in names]
        about = [self.summary(name) for name in names]
        measured = measure_correlations(columns, about, self.dataset.weights)
        return measured, raise_eigenvalues(measured)

    def with_rows(self, names: Sequence[str]) -> PatternedData:
        """Return the same table for regions whose frozen parts have a message for each row.

        The names are those of variables that `Forest` may get such messages for.
        """
        data = copy.copy(self)
        n_bits, n = len(self.bits), len(names)
        data.rows = {name: 1 << (n_bits + j) for j, name in enumerate(names)}
        data.chunks = [Chunk(store.with_rows(n), weights) for store, weights in self.chunks]
        data.sample = data.chunks[0].store
        if self.sample is not self.chunks[0].store:
            data.sample = self.sample.with_rows(n)
        data._groupings, data._whole, data.regions = {}, None, Recent(REGION_BYTES)
        return data

    def first_row(self, b: int) -> int:
        """Return the number of the first (merged) row of a chunk."""
        return int(self._edges[b])

    def gather(self, values: FloatArray) -> FloatArray:
        """Return the values of the merged rows, given those of the rows of the given table."""
        if self.inverse is None:
            return values
        merged = np.empty((self.n_rows, *values.shape[1:]))
        merged[self.inverse] = values
        return merged

    def spread(self, values: Sequence[FloatArray]) -> FloatArray:
        """Join the values of the chunks' rows and repeat them for the rows of the given table."""
        joined = np.concatenate(list(values))
        return joined if self.inverse is None else joined[self.inverse]


def require_categorical(dataset: Dataset) -> None:
    """Refuse continuous columns, with a way out."""
    names = [variable.name for variable in dataset.variables if not variable.is_categorical]
    if not names:
        return
    if len(names) == 1:
        what, them = f"column {names[0]!r} is", "it"
    else:
        listed = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
        what, them = f"columns {listed} are", "them"
    raise DataError(
        f"{what} continuous, but categorical columns are needed; "
        f"leave {them} out or read {them} with kinds={{{names[0]!r}: 'categorical'}}"
    )


def _merge(dataset: Dataset) -> tuple[Dataset, LongArray | None]:
    """Merge equal rows where that saves at least a tenth of them."""
    merged, inverse = dataset.merged()
    if merged.n_rows > 0.9 * dataset.n_rows:
        return dataset, None
    return merged, inverse


class Forest:
    """A forest laid out over a table: likelihoods and expected counts for any parameters.

    Parameters
    ----------
    structure
        A forest; its observed variables are columns of the table with the same states.
    data
        The table.
    free
        Variables whose tables are estimated; default all.
    dense
        For each variable whose subtree is replaced by fixed messages to its parent: the messages
        for the patterns of each chunk, ``(n_patterns, n_states of the parent)``; for each row if
        the table has rows under the variable's name (``PatternedData.with_rows``).
    masks
        For dense variables whose subtrees are not part of the structure: the columns there.
    shared
        Continuous variables whose variances, and covariances in a pouch, are the same for all
        states of the parent.
    equal
        Gaussian leaves of one variable that have the same variance as each other.
    is_variational
        Whether vectors are potentials of a posterior (see `estimation.variational`), not
        parameters.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> table = load("hiv-tests")
    >>> forest = Forest(Structure(table.variables, {}), PatternedData(table))
    >>> log_likelihood, impossible = forest.log_likelihood(np.full(8, 0.5))
    >>> round(log_likelihood, 2), impossible
    (-1186.67, 0.0)
    """

    kind = "forest"

    def __init__(
        self,
        structure: Structure,
        data: PatternedData,
        free: Collection[str] | None = None,
        dense: Mapping[str, Sequence[FloatArray]] | None = None,
        masks: Mapping[str, Mask] | None = None,
        shared: Collection[str] = (),
        equal: Collection[str] = (),
        is_variational: bool = False,
    ) -> None:
        check_forest(structure)
        check_columns(structure, data)
        self.structure = structure
        self.data = data
        self.is_variational = is_variational
        self.shared, self.equal = frozenset(shared), frozenset(equal)
        dense = dense or {}
        bits = {name: data.bits[name] for name in structure.observed}
        known = None if dense else data.known_nodes()
        bits.update(masks or {})
        bits |= {name: data.rows[name] for name in dense if name in data.rows}
        self.roots = draw_forest(structure, bits, data.group, dense, known)
        laid = lay_trees(self.roots, data.chunks[0].store)
        self.nodes = laid.nodes
        names = laid.names
        if structure.continuous:
            names = [name for node in self.nodes for name in (node.name, *node.columns)]
        self.free = [name for name in names if name and (free is None or name in free)]
        self.n_counts = place_sums(structure)[1]

        def plan_chunk(b: int) -> Plan:
            chunk = data.chunks[b]
            here = {name: messages[b] for name, messages in dense.items()}
            trees = laid if b == 0 else lay_trees(self.roots, chunk.store)
            plan = build_plan(
                structure,
                trees,
                chunk.store,
                chunk.weights,
                free,
                here,
                data.summary,
                is_variational,
            )
            if len(data.chunks) > 1:
                chunk.store.trim(TRIMMED_BYTES // len(data.chunks))
            return plan

        self.plans = list(map_threads(plan_chunk, range(len(data.chunks)), data.n_jobs))
        size = sum(8 * int(plan.sizes[0]) for plan in self.plans)
        self._keeps_memory = len(self.plans) == 1 or size <= KEPT_BYTES
        self._may_lose_states = [False for _ in self.plans]  # set when messages were scaled
        self._idle: list[list[Workspace]] = [[] for _ in self.plans]

    @property
    def n_values(self) -> int:
        """Length of the parameter vector."""
        return self.structure.n_values

    @property
    def blocks(self) -> list[GaussianBlock]:
        """Continuous variables that depend on each other."""
        return [node.block for node in self.nodes if node.block is not None]

    def place_sums(self) -> tuple[dict[str, int], int]:
        """Places of the sums of continuous variables in a vector of counts, and its length."""
        return place_sums(self.structure)

    @property
    def is_one_call(self) -> bool:
        """Whether EM can run in one compiled call."""
        return len(self.plans) == 1

    def climb(
        self, method: Method, potentials: FloatArray, run: Run
    ) -> tuple[int, float, bool, bool]:
        """Run the compiled loop: see ``kernels.loop``. Tells whether messages were scaled, too."""
        from latentforest.kernels.forest import em  # compiles, so only when needed
        from latentforest.kernels.variational import posteriors

        work = self.take_workspace(0)
        expect = posteriors.expect if self.is_variational else em.expect
        found = climb_forest(
            self.plans[0],
            work,
            potentials,
            find_steps(expect, method),
            *run,
        )
        was_scaled = bool(work.is_shifted.any())
        self.give_back(0, work)
        return *found, was_scaled

    @property
    def cost(self) -> int:
        """About how many numbers an iteration of EM touches."""
        return sum(map(count_numbers, self.plans))

    def take_workspace(self, b: int) -> Workspace:
        """Return working memory for chunk ``b`` that nobody else uses."""
        try:
            return self._idle[b].pop()
        except IndexError:
            return make_workspace(self.plans[b])

    def give_back(self, b: int, work: Workspace) -> None:
        """Keep working memory for the next who takes it."""
        if self._keeps_memory:
            self._idle[b].append(work)

    def expected_counts(self, theta: FloatArray, counts: FloatArray) -> tuple[float, float]:
        """Fill ``counts``, ``(n_counts,)``, with the expected counts of all rows.

        Those of the tables are laid out like the parameters; behind them lie three sums for each
        Gaussian (see `kernels.gaussian.leaves` and `plan.place_sums`).

        Returns the log-likelihood of the rows of positive probability, and the weight of the
        others; in a forest of several trees, each tree is judged by itself. A row without a value
        for a leaf adds nothing to that leaf's counts.
        """

        def expect(b: int) -> tuple[float, float, FloatArray]:
            here = np.empty(self.n_counts)
            return *self._propagate(b, theta, here, NOTHING), here

        counts[:] = 0.0
        log_likelihood, impossible = 0.0, 0.0
        for value, lost, here in self._over_chunks(expect):
            counts += here
            log_likelihood += value
            impossible += lost
        return log_likelihood, impossible

    def expected_counts_of(self, b: int, theta: FloatArray, counts: FloatArray) -> None:
        """Fill ``counts`` with the expected counts of the rows of one chunk."""
        self._propagate(b, theta, counts, NOTHING)

    def share(self, b: int) -> float:
        """Return the share of a chunk in the total weight."""
        return float(self.data.chunks[b].weights.sum()) / self.data.total_weight

    def log_likelihood(self, theta: FloatArray) -> tuple[float, float]:
        """Log-likelihood of the rows of positive probability, and the weight of the others."""
        results = self._over_chunks(lambda b: self._propagate(b, theta, NOTHING, NOTHING))
        values, lost = zip(*results, strict=True)
        if sum(lost) > 0 and len(self.roots) > 1:  # a row may be impossible in several trees
            rows, weights = self.row_log_likelihoods(theta), self.data.row_weights
            possible = rows > -np.inf
            return float(weights[possible] @ rows[possible]), float(weights[~possible].sum())
        return float(sum(values)), float(sum(lost))

    def row_log_likelihoods(self, theta: FloatArray) -> FloatArray:
        """Log-likelihood of each row of the table; minus infinity for probability zero."""

        def by_row(b: int) -> FloatArray:
            values = np.empty(len(self.plans[b].weights))
            self._propagate(b, theta, NOTHING, values)
            rows, start = np.zeros(len(self.data.chunks[b].weights)), 0
            for root in self.roots:
                column = self.data.chunks[b].store.column(root.mask)
                rows += values[start : start + column.n_patterns][column.codes]
                start += column.n_patterns
            return rows

        return self.data.spread(list(self._over_chunks(by_row)))

    def posteriors(self, theta: FloatArray, names: Sequence[str]) -> list[FloatArray]:
        """Return ``P(variable | row)`` of some categorical variables, ``(n_rows, n_states)`` each.

        A row of probability zero gets ``nan``.
        """
        return compute_posteriors(self, theta, names)

    def family_posteriors(self, theta: FloatArray, names: Sequence[str]) -> list[FloatArray]:
        """Return ``P(parents, variable | row)``, an axis for the rows and for each variable."""
        return compute_family_posteriors(self, theta, names)

    def messages(self, theta: FloatArray, names: Collection[str]) -> dict[str, list[FloatArray]]:
        """Return the messages of subtrees to their parents, for each chunk.

        They are known up to a factor for each pattern.
        """
        theta = _writable(theta)
        place = {node.name: u * N_FIELDS for u, node in enumerate(self.nodes) if node.name}
        result: dict[str, list[FloatArray]] = {name: [] for name in names}
        for b, plan in enumerate(self.plans):
            work = self.take_workspace(b)
            propagate(plan, work, theta, NOTHING, NOTHING, 0.0, True)
            for name in names:
                record = plan.nodes[place[name] : place[name] + N_FIELDS]
                start, n = record[MESSAGES], record[N_PATTERNS]
                rows = work.buffer[start : start + n * record[COLUMN]].reshape(n, -1)
                messages = rows[:, : record[WIDTH]].copy()
                is_scaled = work.is_shifted.any()
                lost = (messages == 0).any(axis=1) if is_scaled else ~messages.any(axis=1)
                for p in np.flatnonzero(lost):
                    message_of_pattern(plan, work, theta, place[name], int(p), messages[p])
                result[name].append(messages)
            self.give_back(b, work)
        return result

    def log_potentials(self, theta: FloatArray) -> dict[tuple[str, ...], FloatArray]:
        """Return the log-density of the values in each block of variables, given each state.

        For every (merged) row; the keys are the names of the variables.
        """
        theta = _writable(theta)
        parts: dict[tuple[str, ...], list[FloatArray]] = {}
        for b, plan in enumerate(self.plans):
            work, store = self.take_workspace(b), self.data.chunks[b].store
            propagate(plan, work, theta, NOTHING, NOTHING, 0.0, True)
            for node, record in zip(self.nodes, plan.nodes.reshape(-1, N_FIELDS), strict=True):
                if node.kind == BLOCK:
                    n, column = int(record[N_PATTERNS]), int(record[COLUMN])
                    place = record[BELIEFS] + -(-n // LANES) * LANES
                    logs = work.buffer[place : place + n * column].reshape(n, column)
                    codes = store.column(node.mask).codes
                    parts.setdefault(node.columns, []).append(logs[codes, : record[WIDTH]])
            self.give_back(b, work)
        return {names: np.concatenate(logs) for names, logs in parts.items()}

    def _over_chunks(self, function: Callable[[int], Result]) -> Iterable[Result]:
        return map_threads(function, range(len(self.plans)), self.data.n_jobs)

    def _propagate(
        self, b: int, theta: FloatArray, counts: FloatArray, values: FloatArray
    ) -> tuple[float, float]:
        theta = _writable(theta)
        plan, work = self.plans[b], self.take_workspace(b)
        if not self._may_lose_states[b]:
            log_likelihood, n_vanished = propagate(plan, work, theta, counts, values, 0.0, True)
            doubtful = work.vanished[1 : n_vanished + 1].copy()
            self._may_lose_states[b] = bool(work.is_shifted.any())
        if self._may_lose_states[b]:
            lower, doubtful = self.judge(b, work, theta)
            trusted = plan.weights.copy()
            trusted[doubtful] = 0.0
            if len(values):
                values[:] = lower
            else:
                doubtful = doubtful[plan.weights[doubtful] > 0]
            trusted_plan = plan._replace(weights=trusted)
            log_likelihood, _ = propagate(trusted_plan, work, theta, counts, NOTHING, 0.0, True)
        rescued, impossible = self._rescue(plan, work, theta, counts, values, doubtful)
        if self.structure.continuous and (len(values) or impossible > 0):
            offsets = self._sum_offsets(b, work)
            if len(values):
                values += offsets
            for entry in doubtful if impossible > 0 else ():
                if add_row(plan, work, theta, NOTHING, int(entry)) == -np.inf:
                    rescued -= plan.weights[entry] * offsets[entry]
        self.give_back(b, work)
        return log_likelihood + rescued, impossible

    def _sum_offsets(self, b: int, work: Workspace) -> FloatArray:
        """Sum the offsets of all Gaussian leaves for each root pattern of a chunk."""
        plan, store = self.plans[b], self.data.chunks[b].store
        result, start, first = np.zeros(len(plan.weights)), 0, np.zeros(0, np.int32)
        for node, record in zip(self.nodes, plan.nodes.reshape(-1, N_FIELDS), strict=True):
            if node.is_root:
                start = int(record[WEIGHTS])
                root = store.column(node.mask)
                first = root.first if node.mask else np.zeros(1, np.int32)
            elif node.kind >= GAUSSIAN:
                place, n = record[BELIEFS], record[N_PATTERNS]
                codes = store.column(node.mask).codes[first]
                result[start : start + len(first)] += work.buffer[place : place + n][codes]
        return result

    def judge(self, b: int, work: Workspace, theta: FloatArray) -> tuple[FloatArray, LongArray]:
        """Leave the messages of a chunk in ``work`` and tell which root patterns to doubt.

        A state that underflow has removed may matter again when its rivals were scaled up. So
        likelihoods are computed with lost states at zero and at an upper bound; patterns on which
        the two differ, or that vanish, are left to the log domain.

        Returns
        -------
        tuple of ndarray
            Log-likelihoods of the root patterns, and the entries of ``Plan.weights`` in doubt.
        """
        plan, theta = self.plans[b], _writable(theta)
        lower, upper = np.empty(len(plan.weights)), np.empty(len(plan.weights))
        propagate(plan, work, theta, NOTHING, upper, FLOOR, True)
        upper[work.vanished[1 : work.vanished[0] + 1]] = np.inf
        propagate(plan, work, theta, NOTHING, lower, 0.0, True)
        lower[work.vanished[1 : work.vanished[0] + 1]] = -np.inf
        return lower, np.flatnonzero(~(upper - lower <= LOSS))

    def _rescue(
        self,
        plan: Plan,
        work: Workspace,
        theta: FloatArray,
        counts: FloatArray,
        values: FloatArray,
        entries: LongArray,
    ) -> tuple[float, float]:
        """Compute some root patterns in the log domain."""
        log_likelihood, impossible = 0.0, 0.0
        for entry in entries:
            value, weight = add_row(plan, work, theta, counts, int(entry)), plan.weights[entry]
            if len(values):
                values[entry] = value
            if value > -np.inf:
                log_likelihood += weight * value
            else:
                impossible += weight
        return log_likelihood, impossible


def _writable(theta: FloatArray) -> FloatArray:
    """Copy a read-only vector: kernels are compiled for writable ones, once."""
    return theta if theta.flags.writeable else theta.copy()


def fits_forest(structure: Structure) -> bool:
    """Whether no variable, nor any that depend on each other, has two categorical parents."""
    if structure.is_forest:
        return True
    return _find_join(structure) is None and not has_joint_blocks(structure)


def _find_join(structure: Structure) -> str | None:
    """Find a variable with several categorical parents."""
    joins = (n for n in structure.names if len(structure.categorical_parents(n)) > 1)
    return next(joins, None)


def check_forest(structure: Structure) -> None:
    """Refuse what is not a forest."""
    name = None if structure.is_forest else _find_join(structure)
    if name is not None:
        raise ModelError(
            f"a forest is needed, but variable {name!r} has parents {structure.parents(name)}"
        )


def check_columns(structure: Structure, data: PatternedData) -> None:
    """Refuse columns that are not in the table, or have other states there."""
    if structure.observed is data.checked:  # structures that were made of each other share it
        return
    for name in structure.observed:
        if name not in data.bits:
            raise DataError(f"the table has no column {name!r}, which the network needs")
        expected, found = structure.variable(name).states, data.dataset.variable(name).states
        if expected != found:
            raise DataError(f"column {name!r} has states {found}, but the network has {expected}")
    data.checked = structure.observed
