"""EM on latent trees: time per iteration, what arithmetic and memory allow, pyAgrum and pgmpy.

Run with ``make bench`` or ``python benchmarks/trees.py``.
"""

from __future__ import annotations

import contextlib
import io
import logging
import time
import warnings

import numpy as np

from common import median_seconds, print_table, read_shared
from latentforest import Dataset, Network, Structure, Variable
from latentforest.datasets.generate import generate, random_latent_class
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.starts import random_starts
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.rooting import reroot
from latentforest.kernels.layout import CARD, HIDDEN, KIND, LEAF, N_FIELDS, N_PATTERNS, WIDTH


def cluster_tree(dataset: Dataset, n_groups: int, n_states: int) -> Structure:
    """Build a latent tree: a latent variable above each group of associated columns."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    from sklearn.metrics import mutual_info_score

    columns = dataset.columns
    information = np.array([[mutual_info_score(a, b) for a in columns] for b in columns])
    own = np.sqrt(np.maximum(np.diag(information), 1e-12))
    distance = np.maximum(1.0 - information / np.outer(own, own), 0.0)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    labels = fcluster(tree, n_groups, "maxclust")
    latents = [Variable.hidden(f"Y{k}", n_states) for k in range(labels.max() + 1)]
    parents = {f"Y{k}": "Y0" for k in range(1, labels.max() + 1)}
    parents |= {name: f"Y{k}" for name, k in zip(dataset.names, labels, strict=True)}
    return Structure([*latents, *dataset.variables], parents)


def latent_tree_of_coil() -> None:
    """One EM iteration on COIL-42 with 14 latent variables of three states, one thread."""
    coil = read_shared("discrete/coil_42.arff")
    structure = cluster_tree(coil, 13, 3)
    data = PatternedData(coil)
    network = Network(structure, random_starts(structure, coil, 1, 0)[0])
    network = reroot(network, data)
    forest = Forest(network.structure, data)
    plain = EMSettings(200, 0.0, accelerate=False)
    n_iterations = fit(forest, network.parameters, settings=plain).monitor.n_iterations
    action = lambda: fit(forest, network.parameters, settings=plain)  # noqa: E731
    seconds = median_seconds(action, 9) / n_iterations
    records = forest.plans[0].nodes.reshape(-1, N_FIELDS)
    hidden = records[records[:, KIND] == HIDDEN]
    steps = int(records[:, N_PATTERNS].sum())
    n_edges = len(structure.names) - 1
    per_cell = coil.n_rows * n_edges * 3
    multiplications = int(2 * (records[:, N_PATTERNS] * records[:, CARD]).sum())
    multiplications += int(3 * (hidden[:, N_PATTERNS] * hidden[:, CARD] * hidden[:, WIDTH]).sum())
    leaves = int((records[:, KIND] == LEAF).sum())
    print_table(
        "EM on a latent tree of COIL-42 (5,822 rows, 42 columns, 14 latent variables of 3 states)",
        [
            {
                "ms per iteration": 1e3 * seconds,
                "patterns": steps,
                "leaves": leaves,
                "share of rows x edges": steps / (coil.n_rows * n_edges),
                "ns per row, edge and state": 1e9 * seconds / per_cell,
                "ns per pattern": 1e9 * seconds / steps,
                "million multiplications per second": multiplications / seconds / 1e6,
                "buffer KB": int(8 * forest.plans[0].sizes[0] / 1024),
            }
        ],
    )


def against_general_engines() -> None:
    """A two-class model of 8 columns and 1,000 rows: a size that general programs can do."""
    truth = random_latent_class(8, 2, random_state=0)
    dataset = generate(truth, 1000, random_state=0)
    structure = truth.structure
    forest = Forest(structure, PatternedData(dataset))
    start = random_starts(structure, dataset, 1, 0)
    plain = EMSettings(100, 0.0, accelerate=False)
    n_iterations = fit(forest, start, settings=plain).monitor.n_iterations
    ours = median_seconds(lambda: fit(forest, start, settings=plain), 9) / n_iterations
    rows = [{"program": "latentforest", "ms per iteration": 1e3 * ours, "times slower": 1.0}]
    for name, run in (("pyAgrum", run_pyagrum), ("pgmpy", run_pgmpy)):
        theirs = run(dataset)
        rows.append(
            {"program": name, "ms per iteration": 1e3 * theirs, "times slower": theirs / ours}
        )
    print_table("EM, two classes, 8 binary columns, 1,000 rows", rows)


def run_pyagrum(dataset: Dataset) -> float:
    """Seconds per EM iteration of pyAgrum; the latent variable is a column of missing values."""
    import pandas
    import pyagrum

    frame = pandas.DataFrame({name: dataset.decode(name) for name in dataset.names})
    frame.insert(0, "Y", "?")
    network = pyagrum.BayesNet()
    network.add(pyagrum.LabelizedVariable("Y", "", ["1", "2"]))
    for variable in dataset.variables:
        network.add(pyagrum.LabelizedVariable(variable.name, "", list(variable.states or ())))
        network.addArc("Y", variable.name)
    network.generateCPTs()
    learner = pyagrum.BNLearner(frame, network, ["?"])
    learner.useEM(1e-6)
    learner.EMsetMaxIter(10)
    began = time.perf_counter()
    learner.learnParameters(network)
    return (time.perf_counter() - began) / max(learner.EMnbrIterations(), 1)


def run_pgmpy(dataset: Dataset) -> float:
    """Seconds per EM iteration of pgmpy."""
    import pandas
    from pgmpy.estimators import ExpectationMaximization
    from pgmpy.models import DiscreteBayesianNetwork

    frame = pandas.DataFrame({name: dataset.decode(name) for name in dataset.names})
    model = DiscreteBayesianNetwork([("Y", name) for name in dataset.names], latents={"Y"})
    estimator = ExpectationMaximization(model, frame)
    began = time.perf_counter()
    estimator.get_parameters(
        latent_card={"Y": 2}, max_iter=5, seed=0, n_jobs=1, show_progress=False, atol=0
    )
    return (time.perf_counter() - began) / 5


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    latent_tree_of_coil()
    with contextlib.redirect_stderr(io.StringIO()):
        against_general_engines()
