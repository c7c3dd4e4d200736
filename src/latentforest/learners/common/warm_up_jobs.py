"""Small fits that together need every kernel."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from latentforest.learners.registry import LEARNERS, SEARCHES, LearnerEntry

if TYPE_CHECKING:
    from numpy.random import Generator

    from latentforest.data import Dataset
    from latentforest.kernels.types import AnyArray, LongArray

FIRST, FIRST_SEARCH = "LatentClass", "EAST"  # compile what all learners, all searches need
SHORT = {"mu": 2, "nu": 3, "n_winners": 1, "max_steps": 6}


@dataclass(frozen=True)
class WarmUpJob:
    """Fits that one process runs, after another job that compiles what both need."""

    name: str
    run: Callable[[], None]
    after: str | None = FIRST


def _list_jobs() -> Iterator[WarmUpJob]:
    """List the jobs in the order in which they are taken: what others wait for comes first."""
    entries = {entry.name: entry for entry in LEARNERS}
    yield WarmUpJob(FIRST, _Fits(entries.pop(FIRST)), None)
    yield WarmUpJob("covariances", _fit_covariances, None)
    yield WarmUpJob("wide tables", _measure_wide_table, None)
    yield WarmUpJob("general networks", _query_general_network, None)
    yield WarmUpJob("networks over columns", _search_networks, None)
    yield WarmUpJob("averages over structures", _average_structures, None)
    yield WarmUpJob("annealing", _anneal, None)
    yield WarmUpJob(FIRST_SEARCH, _Fits(entries.pop(FIRST_SEARCH)))
    yield WarmUpJob("impossible rows", _meet_impossible_rows)
    yield WarmUpJob("long tables", _fit_long_tables)
    for entry in entries.values():
        searches = entry.family == SEARCHES or entry.name == "BridgedIslands"
        yield WarmUpJob(entry.name, _Fits(entry), FIRST_SEARCH if searches else FIRST)
    yield WarmUpJob("stepwise EM", _fit_stepwise)
    yield WarmUpJob("data completion", _complete_data, FIRST_SEARCH)
    yield WarmUpJob("whole searches", _search_to_the_end, FIRST_SEARCH)


@dataclass(frozen=True)
class _Fits:
    """Short fits of a learner to tables of each kind."""

    entry: LearnerEntry

    def __call__(self) -> None:
        last = {
            "any": make_table(4, 4, missing=True),
            "categorical": make_table(6, 0, missing=True),
            "none": make_table(4, 4),
        }
        for table in (make_table(6, 0), make_table(0, 6), last[self.entry.gaps]):
            _fit(self.entry.name, table, **self.entry.quick)


def make_table(
    n_categorical: int, n_continuous: int, missing: bool = False, n_rows: int = 200
) -> Dataset:
    """Draw a table with three clusters."""
    import numpy as np

    from latentforest.data import Dataset

    random = np.random.default_rng(0)
    cluster = random.integers(0, 3, n_rows)
    columns: dict[str, Any] = {}
    for j in range(n_categorical):
        columns[f"c{j}"] = _draw_categories(cluster, random)
    for j in range(n_continuous):
        columns[f"x{j}"] = (cluster * (1 + j % 2) + random.normal(size=n_rows)).round(4)
    if missing:
        for j, values in enumerate(columns.values()):
            values[j :: 2 * len(columns)] = np.nan if values.dtype == float else None
    return Dataset.from_table(columns)


def _draw_categories(cluster: LongArray, random: Generator) -> AnyArray:
    import numpy as np

    states = np.array(["a", "b", "c"], dtype=object)
    is_noise = random.random(len(cluster)) < 0.3
    drawn: AnyArray = states[np.where(is_noise, random.integers(0, 3, len(cluster)), cluster)]
    return drawn


def _fit(learner: str, table: Dataset, **settings: Any) -> None:
    import latentforest

    make = getattr(latentforest, learner)
    seed = {"random_state": 0} if "random_state" in inspect.signature(make).parameters else {}
    model = make(**seed, **settings).fit(table)
    model.score(table)
    if hasattr(model, "predict_proba"):
        model.predict_proba(table)


def _fit_covariances() -> None:
    from latentforest.learners.latent_class import COVARIANCES

    for covariance in COVARIANCES:
        for missing in (False, True):
            table = make_table(2, 3, missing)
            _fit("LatentClass", table, n_states=2, covariance=covariance, prior=1)


def _anneal() -> None:
    from latentforest.learners.latent_class import make_structure
    from latentforest.scores import marginal_likelihood

    table = make_table(3, 0)
    structure = make_structure(table.variables, 2)
    marginal_likelihood(structure, table, "ais", n_runs=1, n_chains=2)


def _complete_data() -> None:
    for table in (make_table(6, 0), make_table(4, 4, missing=True)):
        for start in (None, "bridged-islands"):
            _fit("EAST", table, evaluation="dc", start=start, **SHORT)


def _search_to_the_end() -> None:
    """Search for trees of several latent variables, so that every operator has its turn."""
    for table in (make_groups(0), make_groups(2)):
        _fit("EAST", table, mu=2, nu=3)


def make_groups(n_continuous: int, seed: int = 0) -> Dataset:
    """Draw three groups of columns, each with clusters of its own that depend on each other."""
    import numpy as np

    from latentforest.data import Dataset

    random, n_rows = np.random.default_rng(seed), 400
    cluster, columns = random.integers(0, 2, n_rows), dict[str, Any]()
    for group in "uvw":
        cluster = np.where(random.random(n_rows) < 0.8, cluster, random.integers(0, 2, n_rows))
        for j in range(4):
            columns[f"{group}{j}"] = _draw_categories(cluster, random)
        for j in range(n_continuous):
            columns[f"{group}x{j}"] = (2 * cluster + random.normal(size=n_rows)).round(4)
    return Dataset.from_table(columns)


def _fit_long_tables() -> None:
    """Fit tables of many distinct rows, which are cut into pieces."""
    from latentforest.inference.forest import CHUNK_ROWS

    few = {"n_starts": 2, "max_iterations": 3, "tolerance": 0}
    table = make_table(3, 1, n_rows=2 * CHUNK_ROWS)
    _fit("LatentClass", table, n_states=2, **few)
    _fit("IncrementalForest", table, candidate_pairs=1, **few)
    _fit("LatentClass", make_table(9, 0, n_rows=5000), n_states=2, **few)


def _fit_stepwise() -> None:
    for table in (make_table(6, 0), make_table(3, 3, missing=True)):
        _fit("HierarchicalLatentTree", table, stepwise=True)


def _measure_wide_table() -> None:
    """Count pairs of columns bit by bit, which is worth it for many of them."""
    import numpy as np

    from latentforest.data import Dataset
    from latentforest.inference.association.information import FEW, mutual_information

    n_rows = 4096
    n_columns = int((FEW / n_rows) ** 0.5) + 1
    codes = np.random.default_rng(0).integers(0, 2, (n_rows, n_columns))
    columns = {f"c{j}": np.array(["a", "b"])[column] for j, column in enumerate(codes.T)}
    mutual_information(Dataset.from_table(columns))


def _meet_impossible_rows() -> None:
    """Compute rows that a network excludes, which go to the log domain."""
    from latentforest.data import Dataset, Variable
    from latentforest.inference.forest import Forest, PatternedData
    from latentforest.learners.predictor import Predictor
    from latentforest.model import Network

    hidden = [Variable.hidden(name, 2) for name in "hi"]
    observed = [Variable(name, ("a", "b")) for name in "uvw"]
    tables = {name: [[1, 0], [0, 1]] for name in "iuvw"} | {"h": [0.5, 0.5]}
    parents = {"i": "h", "u": "i", "v": "i", "w": "h"}
    network = Network.from_tables([*hidden, *observed], parents, tables)
    table = Dataset.from_table({"u": [*"abab"], "v": [*"abba"], "w": [*"aabb"]})
    Predictor(network).score_samples(table)
    forest = Forest(network.structure, PatternedData(table))
    forest.messages(network.parameters, ["i"])


def _query_general_network() -> None:
    """Ask a network in which a column has two parents, which needs a junction tree."""
    import numpy as np

    from latentforest.data import Variable
    from latentforest.estimation.em import fit
    from latentforest.inference.forest import PatternedData
    from latentforest.inference.junction.junction_tree import JunctionTree
    from latentforest.model import Structure

    table = make_table(4, 0, missing=True)
    hidden = [Variable.hidden(name, 2) for name in "hi"]
    structure = Structure([*hidden, *table.variables], dict.fromkeys(table.names, ("h", "i")))
    engine = JunctionTree(structure, PatternedData(table))
    theta = np.concatenate(
        [
            np.full(structure.shape(name), 1 / structure.shape(name)[-1]).ravel()
            for name in structure.names
        ]
    )
    engine.expected_counts(theta, np.zeros(engine.n_counts))
    fit(engine, theta)
    engine.posteriors(theta, ["h", "c0"])
    for generator in (None, np.random.default_rng(0)):
        engine.complete(theta, generator)


def _search_networks() -> None:
    """Search networks over columns, exactly and by climbing, with whole and with broken weights."""
    import numpy as np

    from latentforest.inference.counts import CountingTable
    from latentforest.search.dags.best import best_network

    table = make_table(5, 0)
    broken = table.with_weights(np.random.default_rng(0).random(table.n_rows))
    for data in (table, broken):
        CountingTable(data).count_family(0, [1])
        for exact_columns in (0, 5):
            for criterion in ("bic", "bdeu"):
                best_network(data, criterion, exact_columns=exact_columns)


def _average_structures() -> None:
    """Average over trees and networks, exactly and by chains, and list the best networks."""
    from latentforest.search.averaging.best import best_networks
    from latentforest.search.averaging.networks import ChainSettings, average_networks
    from latentforest.search.averaging.trees import TreeAverage

    table = make_table(5, 0)
    TreeAverage(table).score_samples(table.take([0]))
    best_networks(table, 2)
    for prior in ("networks", "orders"):
        average_networks(table, prior=prior)
        few = ChainSettings(n_chains=2, n_steps=16, n_states=4)
        average_networks(table, prior=prior, exact_columns=0, chains=few)


JOBS = tuple(_list_jobs())
