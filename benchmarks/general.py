"""Networks of any shape. ``python benchmarks/general.py files | posteriors | speed | em``.

The networks of the bnlearn repository come with pgmpy. Only its files are needed to read them; if
it can be imported, its own reader is timed, too, and the parameters are compared.
"""

from __future__ import annotations

import gzip
import importlib.metadata
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from common import median_seconds, print_table, seconds
from latentforest import Dataset, Network, Structure, load, save
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData


def list_published() -> list[Path]:
    """Find the BIF files that pgmpy brings along, small ones first."""
    try:
        files = importlib.metadata.files("pgmpy") or []
    except importlib.metadata.PackageNotFoundError:
        raise SystemExit(
            "the networks come with pgmpy: pip install 'latentforest[bench]'"
        ) from None
    found = [Path(str(file.locate())) for file in files if file.name.endswith(".bif.gz")]
    return sorted(found, key=lambda path: path.stat().st_size)


def compare_files() -> None:
    """Read all published networks, write them, read them again, and compare with pgmpy."""
    rows = [_describe(path) for path in list_published()]
    print_table("Published networks: seconds to read and write, largest difference", rows)


def _describe(path: Path) -> dict[str, Any]:
    found: list[Network] = []
    with warnings.catch_warnings(record=True) as said, tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("always")
        reading = seconds(lambda: found.append(load(path)))
        copy = Path(folder) / "copy.bif"
        writing = seconds(lambda: save(found[0], copy))
        is_same = load(copy) == found[0]
    return {
        "network": path.name.removesuffix(".bif.gz"),
        "variables": len(found[0].names),
        "numbers": found[0].structure.n_values,
        "warnings": len(said),
        "read": reading,
        "write": writing,
        "same again": is_same,
        **_compare(path, found[0]),
    }


def _compare(path: Path, network: Network) -> dict[str, Any]:
    """Time pgmpy's reader and compare its tables."""
    try:
        from pgmpy.readwrite import BIFReader
    except ImportError:
        return {}
    text, found = gzip.decompress(path.read_bytes()).decode(), []
    time = seconds(lambda: found.append(BIFReader(string=text)))
    reader, largest = found[0], 0.0
    for name in network.names:
        assert tuple(reader.variable_states[name]) == network.structure.states(name)
        assert tuple(reader.variable_parents[name]) == network.structure.parents(name)
        table = network.cpd(name)
        theirs = reader.variable_cpds[name].T.reshape(table.shape)
        largest = max(largest, float(np.abs(theirs - table).max()))
    return {"pgmpy reads": time, "difference": largest}


EQUAL = ("alarm", "insurance", "hailfinder", "win95pts", "andes", "munin1")
SOME = range(100)  # rows that slow programs are timed on
SEEN = 0.2  # share of the variables whose values are given


def load_published(name: str) -> Network:
    """Load one of the published networks."""
    return load(next(path for path in list_published() if path.name == f"{name}.bif.gz"))


def to_pyagrum(network: Network) -> Any:
    """Make the same network for pyAgrum: its own reader of BIF is of single precision."""
    import pyagrum as gum

    other = gum.BayesNet()
    structure = network.structure
    for name in network.names:
        other.add(gum.LabelizedVariable(name, name, list(structure.states(name))))
    for name in network.names:
        for parent in structure.parents(name):
            other.addArc(parent, name)
    for name in network.names:
        table = other.cpt(name)
        order = [*structure.parents(name), name]
        axes = [order.index(each) for each in reversed(table.names)]
        table.fillWith(np.ascontiguousarray(network.cpd(name).transpose(axes)).ravel().tolist())
    return other


def hide(network: Network, n_rows: int, share: float, seed: int = 0) -> Dataset:
    """Sample rows and remove a share of their cells."""
    generator, table = np.random.default_rng(seed), network.sample(n_rows, random_state=seed)
    columns = [np.where(generator.random(n_rows) < share, -1, column) for column in table.columns]
    return Dataset(table.variables, columns)


def ask_pyagrum(engine: Any, table: Dataset, names: Sequence[str], row: int) -> list[Any]:
    """Posteriors of all variables given a row."""
    engine.eraseAllEvidence()
    engine.setEvidence(
        {n: int(c[row]) for n, c in zip(table.names, table.columns, strict=True) if c[row] >= 0}
    )
    engine.makeInference()
    return [engine.posterior(name).toarray() for name in names]


def compare_posteriors(n_rows: int = 5) -> None:
    """Posteriors of all variables given a fifth of them, beside pyAgrum's."""
    import pyagrum as gum

    rows = []
    for name in EQUAL:
        network = load_published(name)
        table = hide(network, n_rows, 1 - SEEN)
        other = gum.LazyPropagation(to_pyagrum(network))
        found = make_engine(network.structure, PatternedData(table)).posteriors(
            network.parameters, network.names
        )
        largest = 0.0
        for row in range(n_rows):
            theirs = ask_pyagrum(other, table, network.names, row)
            for ours, their in zip(found, theirs, strict=True):
                largest = max(largest, float(np.abs(ours[row] - their).max()))
        rows.append({"network": name, "rows": n_rows, "largest difference": largest})
    print_table("Posteriors of all variables, beside pyAgrum", rows)


def _ask_some(engine: Any, table: Dataset, names: Sequence[str]) -> None:
    for row in SOME:
        ask_pyagrum(engine, table, names, row)


def time_posteriors(n_rows: int = 1000) -> None:
    """Seconds for posteriors of all variables of rows with random evidence, one thread."""
    import pyagrum as gum

    rows = []
    for name in ("alarm", "win95pts"):
        network = load_published(name)
        table = hide(network, n_rows, 1 - SEEN)
        other = gum.LazyPropagation(to_pyagrum(network))
        theirs = seconds(lambda o=other, t=table, n=network.names: _ask_some(o, t, n))
        theirs *= n_rows / len(SOME)

        def ask(network: Network = network, table: Dataset = table) -> None:
            engine = make_engine(network.structure, PatternedData(table))
            engine.posteriors(network.parameters, network.names)

        ask()
        ours = median_seconds(ask, 3)
        rows.append({"network": name, "ours": ours, "pyAgrum": theirs, "times": theirs / ours})
    print_table(f"Seconds for posteriors of all variables, {n_rows:,} rows", rows)


def time_em(n_rows: int = 10_000) -> None:
    """Seconds of an iteration of EM on alarm, a tenth of the cells missing, one thread."""
    network = load_published("alarm")
    table = hide(network, n_rows, 0.1)
    engine = make_engine(network.structure, PatternedData(table))
    counts = np.zeros(engine.n_counts)
    engine.expected_counts(network.parameters, counts)
    ours = median_seconds(lambda: engine.expected_counts(network.parameters, counts), 5)
    rows = [
        {
            "data": "10% missing",
            "ours": ours,
            **_time_pyagrum_em(network, table.take(range(200)), n_rows),
        }
    ]
    latent = ("LVFAILURE", "CATECHOL", "HR")
    ours = _time_latents(network, latent, n_rows)
    rows.append({"data": "three latent", "ours": ours, **_time_pgmpy_em(network, latent, n_rows)})
    for row in rows:
        row["times"] = np.nanmax([row["pyAgrum"], row["pgmpy"]]) / row["ours"]
    print_table(f"Seconds of an iteration of EM, alarm, {n_rows:,} rows", rows)


def _time_latents(network: Network, latents: Sequence[str], n_rows: int) -> float:
    structure = network.structure
    variables = [replace(v, latent=True) if v.name in latents else v for v in structure.variables]
    hidden = Structure(variables, {name: structure.parents(name) for name in structure.names})
    table = network.sample(n_rows, random_state=0).select(hidden.observed)
    engine = make_engine(hidden, PatternedData(table))
    theta, counts = np.empty(hidden.n_values), np.zeros(engine.n_counts)
    hidden.copy_tables(theta, structure, network.parameters, but=())
    engine.expected_counts(theta, counts)
    return median_seconds(lambda: engine.expected_counts(theta, counts), 5)


def _time_pyagrum_em(network: Network, table: Dataset, n_rows: int) -> dict[str, float]:
    """An iteration of pyAgrum's EM, from one on fewer rows."""
    import pandas as pd
    import pyagrum as gum

    frame = pd.DataFrame(table.to_columns()).fillna("?").astype(str)
    learner = gum.BNLearner(frame, to_pyagrum(network), ["?"])
    learner.useEM(1e-12)
    learner.EMsetMaxIter(2)
    learner.useSmoothingPrior(1e-6)
    time = seconds(lambda: learner.learnParameters(to_pyagrum(network).dag()))
    theirs = time / max(learner.EMnbrIterations(), 1) * n_rows / table.n_rows
    return {"pyAgrum": theirs, "pgmpy": float("nan"), "times": float("nan")}


def _time_pgmpy_em(network: Network, latents: Sequence[str], n_rows: int) -> dict[str, float]:
    """An iteration of pgmpy's EM, from one on fewer rows."""
    import pandas as pd
    from pgmpy.estimators import ExpectationMaximization
    from pgmpy.models import DiscreteBayesianNetwork

    structure = network.structure
    edges = [(parent, name) for name in network.names for parent in structure.parents(name)]
    model = DiscreteBayesianNetwork(edges, latents=set(latents))
    table = network.sample(len(SOME), random_state=0)
    frame = pd.DataFrame(table.to_columns()).drop(columns=list(latents))
    cards = {name: structure.shape(name)[-1] for name in latents}
    learner = ExpectationMaximization(model, frame)
    time = seconds(
        lambda: learner.get_parameters(
            latent_card=cards, max_iter=1, n_jobs=1, seed=0, show_progress=False
        )
    )
    return {"pyAgrum": float("nan"), "pgmpy": time * n_rows / len(SOME), "times": float("nan")}


if __name__ == "__main__":
    actions = {
        "files": compare_files,
        "posteriors": compare_posteriors,
        "speed": time_posteriors,
        "em": time_em,
    }
    for name in sys.argv[1:] or list(actions):
        if name not in actions:
            raise SystemExit(f"expected one of {', '.join(actions)}, got {name}")
        actions[name]()
