"""Structural EM: missing cells, hidden variables, and EM on each candidate for comparison.

Run ``python benchmarks/structural_em.py [complete] [missing] [hidden] [full]``, by default all.
Rows of alarm are sampled as for ``bayesian_networks.py``. Times are processor time of one thread,
compilation not counted; held-out figures are nats per row.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from bayesian_networks import find_network, load_tool
from common import print_table
from latentforest import BayesianNetworkSearch, Dataset, StructuralEM, Variable
from latentforest.search.dags.best import best_network

N_ROWS, N_TEST, SHARE = 10_000, 5_000, 0.1


def sample_alarm(n_rows: int, seed: int) -> Dataset:
    """Draw rows of alarm; a state called None is a state."""
    tool = load_tool()
    network = tool.read_bif(find_network("alarm"))
    codes = tool.sample(network, n_rows, seed)
    labels = {name: np.array(network[1][name], object)[codes[name]] for name in network[0]}
    return Dataset.from_table(labels, missing=())


def drop_cells(table: Dataset, share: float, seed: int) -> Dataset:
    """Make cells missing at random."""
    rng = np.random.default_rng(seed)
    columns = [np.where(rng.random(table.n_rows) < share, -1, c) for c in table.columns]
    return Dataset(table.variables, columns)


def fill_modes(table: Dataset) -> Dataset:
    """Put the most frequent state of each column into its missing cells."""
    modes = [int(np.argmax(table.counts(name))) for name in table.names]
    columns = [np.where(c < 0, mode, c) for c, mode in zip(table.columns, modes, strict=True)]
    return Dataset(table.variables, columns)


def keep_complete(table: Dataset) -> Dataset:
    """Keep the rows that miss nothing."""
    return table.take(np.all([column >= 0 for column in table.columns], axis=0))


def timed(learner: Any, table: Dataset) -> tuple[Any, float]:
    """Fit a learner, and tell how long that took."""
    began = time.process_time()
    return learner.fit(table), time.process_time() - began


def show_complete() -> None:
    """With nothing missing: the result of the search over complete tables."""
    rows = []
    for seed in range(3):
        table = sample_alarm(N_ROWS, seed)
        model, taken = timed(StructuralEM(random_state=0), table)
        plain, _ = timed(BayesianNetworkSearch(random_state=0), table)
        rows.append(
            {
                "seed": seed,
                "BIC": model.bic_,
                "BayesianNetworkSearch": plain.bic_,
                "same network": str(model.network_ == plain.network_),
                "EM runs": model.n_fits_,
                "seconds": taken,
            }
        )
    print_table("Alarm, 10,000 rows, nothing missing", rows)


def show_missing(n_seeds: int = 5) -> None:
    """A tenth of the cells of alarm missing: held-out rows, beside simpler ways."""
    rows = []
    timed(StructuralEM(random_state=0, max_steps=1), drop_cells(sample_alarm(300, 0), SHARE, 0))
    for seed in range(n_seeds):
        whole = sample_alarm(N_ROWS, seed)
        table, test = drop_cells(whole, SHARE, seed), sample_alarm(N_TEST, seed + 1000)
        model, taken = timed(StructuralEM(prior=1, random_state=0), table)
        others = {
            "complete table": whole,
            "mode imputation": fill_modes(table),
            "complete cases": keep_complete(table),
        }
        search = BayesianNetworkSearch(prior=1, random_state=0)
        held = {name: search.fit(each).score(test) for name, each in others.items()}
        found = model.score(test)
        row = {"seed": seed, "StructuralEM": f"{found:.4f}"}
        row |= {name: f"{value:.4f}" for name, value in held.items()}
        row |= {
            "below complete": f"{held['complete table'] - found:.4f}",
            "complete rows": keep_complete(table).n_rows,
            "EM runs": model.n_fits_,
            "left out": f"{model.left_out_:.1e}",
            "seconds": taken,
        }
        rows.append(row)
        print(row, flush=True)
    print_table("Alarm, 10,000 rows, 10% of the cells missing: 5,000 held-out rows", rows)


def draw_hidden(n_rows: int, seed: int) -> Dataset:
    """Draw eight binary columns, each with three independent hidden binary parents."""
    rng = np.random.default_rng(seed)
    roots, cells = rng.uniform(0.3, 0.7, 3), rng.uniform(0, 1, (8, 2, 2, 2))
    a, b, c = (rng.random((n_rows, 3)) < roots).astype(int).T
    columns = [(rng.random(n_rows) < table[a, b, c]).astype(int) for table in cells]
    return Dataset([Variable(f"X{j}", ("0", "1")) for j in range(8)], columns)


def show_hidden() -> None:
    """BIC with hidden variables, beside the best of all networks without."""
    for n_rows in (5_000, 1_000):
        rows = []
        for seed in range(10):
            table = draw_hidden(n_rows, seed)
            given = StructuralEM({"A": 2, "B": 2, "C": 2}, n_restarts=10, random_state=0)
            three, three_seconds = timed(given, table)
            auto, seconds = timed(StructuralEM("auto", n_restarts=2, random_state=0), table)
            without = best_network(table).bic
            states = [len(auto.network_.structure.states(n)) for n in auto.network_.latents]
            rows.append(
                {
                    "seed": seed,
                    "without": without,
                    "three binary": three.bic_,
                    "gain": three.bic_ - without,
                    "auto": auto.bic_,
                    "its gain": auto.bic_ - without,
                    "its states": " ".join(map(str, states)) or "none",
                    "seconds (three)": three_seconds,
                    "seconds (auto)": seconds,
                }
            )
        print_table(f"Three hidden binary roots, eight children, {n_rows:,} rows: BIC", rows)
        for name in ("gain", "its gain"):
            print(f"{name}: above on {sum(row[name] > 0 for row in rows)} of 10")


def show_full() -> None:
    """EM on each candidate, beside structural EM with one arc or a search for a step."""
    rows = []
    for seed in range(3):
        whole = sample_alarm(2_000, seed).select(
            ["HISTORY", "CVP", "PCWP", "HYPOVOLEMIA", "LVEDVOLUME", "LVFAILURE", "STROKEVOLUME"]
        )
        table = drop_cells(whole, 0.2, seed)
        for what, settings in (
            ("EM on each candidate", {"evaluation": "full"}),
            ("structural EM, one arc", {"structure_step": "one"}),
            ("structural EM, search", {}),
        ):
            timed(StructuralEM(n_restarts=0, random_state=0, **settings), table)
            learner = StructuralEM(n_restarts=0, random_state=0, **settings)
            model, taken = timed(learner, table)
            rows.append(
                {
                    "seed": seed,
                    "way": what,
                    "EM runs": model.n_fits_,
                    "steps": sum(phase == "structure" for phase in model.history_["phase"]),
                    "seconds": taken,
                    "BIC": f"{model.bic_:,.2f}",
                }
            )
    print_table("Seven columns of alarm, 2,000 rows, 20% of the cells missing", rows)


PARTS = {
    "complete": show_complete,
    "missing": show_missing,
    "hidden": show_hidden,
    "full": show_full,
}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    for part in parser.parse_args().parts or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
