"""Generalized latent class models: the published tables, in the form of the paper's Tables 1 to 4.

Run ``python benchmarks/glc.py [part ...]``; the parts are ``seeds``, ``regularization``,
``families`` and ``enumeration``. Times are processor seconds of one thread, compilation not
counted.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.special import chdtrc

from common import print_table
from latentforest import Dataset, GeneralizedLatentClass, Variable, datasets, fit
from latentforest.model import Structure

TABLES = ("hiv-tests", "coleman-panel", "house-building")
TO_REACH = {  # by enumeration: any model, and models with a latent parent for each column
    "hiv-tests": (-653.657, -656.622),
    "coleman-panel": (-8535.001, -8539.394),
    "house-building": (-2944.114, -2950.827),
}
N_SEEDS = 10


def learn(data: Dataset, **settings: Any) -> tuple[GeneralizedLatentClass, float]:
    """Fit the learner, and tell how many processor seconds it took."""
    began = time.process_time()
    model = GeneralizedLatentClass(n_jobs=1, **settings).fit(data)
    return model, time.process_time() - began


def describe(model: GeneralizedLatentClass, data: Dataset) -> dict[str, Any]:
    """G², degrees of freedom by the number of parameters, and p, as in the paper."""
    weights = data.merged()[0].weights
    highest = float(np.sum(weights * np.log(weights / weights.sum())))
    g_squared = 2.0 * (highest - model.log_likelihood_)
    df = 2**data.n_columns - 1 - model.n_parameters_
    p = f"{chdtrc(df, g_squared):.3f}" if df > 0 else ""
    return {"G²": f"{g_squared:.3f}", "df": df, "p": p, "BIC": f"{model.bic_:,.3f}"}


def show_seeds() -> None:
    """How many of ten seeds reach the best models known, and how long they take."""
    rows = []
    for name, attached in product(TABLES, (False, True)):
        data = datasets.load(name)
        runs = [learn(data, attached=attached, random_state=seed) for seed in range(N_SEEDS)]
        target = TO_REACH[name][attached]
        rows.append(
            {
                "table": name,
                "attached": str(attached),
                "to reach": f"{target:,.3f}",
                "reached": f"{sum(m.bic_ >= target - 0.001 for m, _ in runs)} of {N_SEEDS}",
                "lowest BIC": f"{min(model.bic_ for model, _ in runs):,.3f}",
                "structures": len({model.network_.structure for model, _ in runs}),
                "EM fits": int(np.median([model.n_fits_ for model, _ in runs])),
                "median s": float(np.median([t for _, t in runs])),
                "longest s": max(t for _, t in runs),
                "no latents": f"{runs[0][0].without_latents_.bic:,.3f}",
            }
        )
    print_table("Ten seeds", rows)


def show_regularization() -> None:
    """With, without, and with discarding instead of regularization; Algorithm 1, and with kicks."""
    for name in TABLES:
        data, rows = datasets.load(name), []
        for n_kicks, way in product((0, None), (False, True, "discard")):
            model, taken = learn(data, regularize=way, n_kicks=n_kicks, random_state=0)
            how = {False: "No", True: "Yes", "discard": "Discard"}[way]
            search = "Algorithm 1" if n_kicks == 0 else "with kicks"
            ends = {"EM fits": model.n_fits_, "seconds": taken}
            rows.append({"Regularization": how, "search": search} | describe(model, data) | ends)
        print_table(name, rows)


def show_families() -> None:
    """The best latent class, hierarchical, latent structure and generalized models."""
    for name in TABLES:
        data, rows = datasets.load(name), []
        for family in ("lc", "hlc", "ls", "glc"):
            model, taken = learn(data, family=family, random_state=0)
            parameters = {"parameters": model.n_parameters_, "seconds": taken}
            rows.append({"family": family} | describe(model, data) | parameters)
        print_table(name, rows)


def show_enumeration() -> None:
    """The learner beside all structures of one latent variable and up to two manifest links."""
    rows = []
    for number in range(3):
        data = draw_table(number)
        model, taken = learn(data, random_state=0)
        best = max(
            fit(each, data, n_starts=16, random_state=0).bic_ for each in enumerate_all(data)
        )
        rows.append(
            {
                "table": number,
                "enumerated": f"{best:,.3f}",
                "learned": f"{model.bic_:,.3f}",
                "seconds": taken,
            }
        )
    print_table("Random tables of four binary columns", rows)


def draw_table(seed: int) -> Dataset:
    """Sample a random generalized latent class model."""
    columns = [Variable(name, ("no", "yes")) for name in "ABCD"]
    parents = {"A": "X", "B": ("X", "A"), "C": "X", "D": ("X", "C") if seed % 2 else "X"}
    structure = Structure([Variable.hidden("X", 2), *columns], parents)
    rng = np.random.default_rng(seed)
    cells = np.array(list(product((0, 1), repeat=4)))
    start = Dataset(columns, list(cells.T), rng.integers(1, 200, 16))
    return fit(structure, start, random_state=0).network_.sample(2000, random_state=seed)


def enumerate_all(data: Dataset) -> list[Structure]:
    """List structures with two or three classes, any cross links, up to two links of columns."""
    names, found = data.names, []
    pairs = [(a, b) for a in names for b in names if a != b]
    sets = [links for n in range(3) for links in combinations(pairs, n)]
    below = [each for n in (2, 3, 4) for each in combinations(names, n)]
    for n_states, children, links in product((2, 3), below, sets):
        if len({frozenset(link) for link in links}) < len(links):
            continue
        parents = {
            name: (*(["X"] if name in children else []), *(a for a, b in links if b == name))
            for name in names
        }
        found.append(Structure([Variable.hidden("X", n_states), *data.variables], parents))
    return found


PARTS = {
    "seeds": show_seeds,
    "regularization": show_regularization,
    "families": show_families,
    "enumeration": show_enumeration,
}


if __name__ == "__main__":
    learn(datasets.load("hiv-tests"), random_state=0)  # compiles
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
