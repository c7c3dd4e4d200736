"""Generalized latent class models: the published tables, in the form of the paper's Tables 1 to 4.

Run ``python benchmarks/glc.py [part ...]``; the parts are ``seeds``, ``regularization``,
``families``, ``enumeration``, ``wide``, ``predictive`` and ``recovery``. Times are processor
seconds of one thread, compilation not counted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.special import chdtrc

from common import print_table, read_folds, read_shared
from latentforest import (
    EAST,
    ChowLiu,
    Dataset,
    GeneralizedLatentClass,
    LatentClass,
    Network,
    Variable,
    datasets,
    fit,
    is_regular,
    log_score,
)
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import PatternedData
from latentforest.model import Structure
from latentforest.search.glc.draft import Draft
from latentforest.search.glc.fits import FitEffort, Fitter
from latentforest.search.glc.neighbours import GlcRules
from latentforest.search.glc.search import find_highest

TABLES = ("hiv-tests", "coleman-panel", "house-building")
TO_REACH = {  # by enumeration: any model, and models with a latent parent for each column
    "hiv-tests": (-653.657, -656.622),
    "coleman-panel": (-8535.001, -8539.394),
    "house-building": (-2944.114, -2950.827),
}
N_SEEDS = 10
N_MODELS = 5  # random ones, of the study of recovery


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
    """The learner from five seeds beside all structures, on tables from six random models.

    With regularization only regular structures are visited, without it all of them.
    """
    rows = []
    for number in range(6):
        data = draw_table(number)
        for way, best in zip((True, False), find_best(data), strict=True):
            runs = [learn(data, random_state=seed, regularize=way) for seed in range(5)]
            rows.append(
                {
                    "table": number,
                    "made with": "two latent variables" if number % 2 else "one, and links",
                    "structures": "regular" if way else "all",
                    "enumerated": f"{best:,.3f}",
                    "lowest": f"{min(m.bic_ for m, _ in runs):,.3f}",
                    "highest": f"{max(m.bic_ for m, _ in runs):,.3f}",
                    "reached": f"{sum(m.bic_ >= best - 0.01 for m, _ in runs)} of 5",
                    "longest s": max(t for _, t in runs),
                }
            )
    print_table("Random tables of four binary columns, 1,000 rows", rows)


def draw_table(number: int) -> Dataset:
    """Sample a random model with one latent variable and links, or with two latent variables."""
    rng = np.random.default_rng(number)
    if number % 2:
        sizes = {"X": 2, "Y": 2}
        parents = {"Y": "X", "A": "X", "B": "XY", "C": "Y", "D": "Y" if number % 4 == 1 else "XY"}
    else:
        sizes = {"X": 2 + (number == 4)}
        parents = {"A": "X", "B": "XA", "C": "X", "D": "XC" if number == 2 else "X"}
    draft = Draft(sizes, {name: frozenset(parents.get(name, "")) for name in (*sizes, *"ABCD")})
    structure = draft.build([Variable(name, ("no", "yes")) for name in "ABCD"])
    return fill(structure, rng).sample(1000, random_state=number)


def fill(structure: Structure, rng: np.random.Generator) -> Network:
    """Draw parameters; those of latent variables are never far from even."""
    tables = {
        name: rng.dirichlet(
            np.full(structure.shape(name)[-1], 5.0 if name in structure.latents else 0.5),
            structure.shape(name)[:-1],
        )
        for name in structure.names
    }
    parents = {name: structure.parents(name) for name in structure.names}
    return Network.from_tables(structure.variables, parents, tables)


def find_best(data: Dataset) -> tuple[float, float]:
    """Return the highest BIC of all regular structures, and of all.

    Structures that cannot reach it are not fitted.
    """
    table = data.merged()[0]
    rows = PatternedData(table)
    fitter, highest = Fitter(rows, 0), find_highest(rows)
    penalty = 0.5 * np.log(table.total_weight)
    effort = FitEffort(24, 0, EMSettings(3000, 1e-9))
    cards, regular, best = dict.fromkeys(table.names, 2), -np.inf, -np.inf
    drafts = {draft.key: draft for draft in enumerate_all(table.names)}
    sized = [(draft.compute_dimension(cards), draft) for draft in drafts.values()]
    for dimension, draft in sorted(sized, key=lambda pair: pair[0]):
        if highest - penalty * dimension <= regular:
            break
        structure = draft.build(table.variables)
        score = fitter.fit(structure, None, effort)[1] - penalty * dimension
        best = max(best, score)
        if score > regular and is_regular(structure):
            regular = score
    return regular, best


def enumerate_all(names: Sequence[str]) -> Iterator[Draft]:
    """One latent variable of two or three states, up to three links; two of two, up to one."""
    pairs = [(a, b) for a in names for b in names if a != b]
    below = [each for n in (2, 3, 4) for each in combinations(names, n)]
    for n_states, children, n_links in product((2, 3), below, range(4)):
        above = {name: {"X"} if name in children else set() for name in names}
        yield from link({"X": n_states}, {"X": set()} | above, combinations(pairs, n_links))
    for parents, latent, n_links in product(product(("", "X", "Y", "XY"), repeat=4), "X ", (0, 1)):
        above = {name: set(each) for name, each in zip(names, parents, strict=True)}
        latents = {"X": set(), "Y": set(latent.strip())}
        yield from link({"X": 2, "Y": 2}, latents | above, combinations(pairs, n_links))


def link(
    sizes: dict[str, int], parents: dict[str, set[str]], sets: Iterable[Iterable[tuple[str, str]]]
) -> Iterator[Draft]:
    """Add links between columns; a latent variable must have two children."""
    for links in sets:
        more = {child: {a for a, b in links if b == child} for child in parents}
        draft = Draft(sizes, {name: frozenset(parents[name] | more[name]) for name in parents})
        if draft.is_acyclic() and GlcRules().allow(draft):
            yield draft


WIDE = ("vote", "spect_heart", "car_evaluation", "alarm", "alarm, fold 1", "coil_42")


def read_wide(name: str) -> Dataset:
    """Read a table, or what is left of it without its first published fold."""
    name, _, fold = name.partition(", ")
    data = read_shared(f"discrete/{name}.arff")
    return data.take(np.flatnonzero(read_folds(f"discrete/{name}") != 1)) if fold else data


def time_seeds(learner: Any, data: Dataset, **settings: Any) -> tuple[list[Any], float]:
    """Fit a learner from five seeds; the median of processor seconds."""
    models, times = [], []
    for seed in range(5):
        began = time.process_time()
        models.append(learner(random_state=seed, n_jobs=1, **settings).fit(data))
        times.append(time.process_time() - began)
    return models, float(np.median(times))


def show_wide() -> None:
    """BIC on wider tables beside EAST, five seeds each."""
    rows = []
    for name in WIDE:
        data = read_wide(name)
        trees, their = time_seeds(EAST, data, mu=16, nu=40, start="bridged-islands")
        models, our = time_seeds(GeneralizedLatentClass, data)
        rows.append(
            {
                "table": name,
                "columns": data.n_columns,
                "best EAST": f"{max(m.bic_ for m in trees):,.1f}",
                "EAST s": their,
                "lowest GLC": f"{min(m.bic_ for m in models):,.1f}",
                "highest GLC": f"{max(m.bic_ for m in models):,.1f}",
                "GLC s": our,
                "latent variables": len(models[0].network_.latents),
                "without latents": f"{models[0].without_latents_.bic:,.1f}",
            }
        )
        print_table("Wider tables", rows[-1:])
    print_table("Wider tables, five seeds, processor seconds of one thread", rows)


N_FOLDS = {"vote": 5, "spect_heart": 5, "car_evaluation": 1, "alarm": 2, "coil_42": 1}
METHODS = {
    "GLC": GeneralizedLatentClass,
    "EAST": EAST,
    "Chow-Liu": ChowLiu,
    "latent class": LatentClass,
}


def show_predictive() -> None:
    """Log-likelihood of held-out rows, for each row; folds of ten dealt out at random."""
    rows = []
    for name, n_folds in N_FOLDS.items():
        data = read_shared(f"discrete/{name}.arff")
        folds = np.random.default_rng(0).permutation(data.n_rows) % 10
        row: dict[str, Any] = {"table": name, "folds": n_folds}
        for method, learner in METHODS.items():
            settings = {"prior": 1.0} | ({} if method == "Chow-Liu" else {"random_state": 0})
            total = n_rows = 0.0
            for fold in range(n_folds):
                train, test = data.take(folds != fold), data.take(folds == fold)
                total += log_score(learner(**settings).fit(train).network_, test)
                n_rows += test.total_weight
            row[method] = f"{total / n_rows:.3f}"
        rows.append(row)
        print_table("Predictive log-likelihood", rows[-1:])
    print_table("Predictive log-likelihood of a row, shuffled folds, prior=1", rows)


def show_recovery() -> None:
    """Two latent variables, eight columns, two direct links: what is found again."""
    rows = []
    for n_rows in (1000, 5000, 20_000):
        found = [recover(seed, n_rows) for seed in range(N_MODELS)]
        gains = [each["gain"] for each in found]
        rows.append(
            {
                "rows": n_rows,
                "links found": f"{sum(each['found'] for each in found)} of {2 * N_MODELS}",
                "false links": sum(each["false"] for each in found),
                "two latents": f"{sum(each['latents'] == 2 for each in found)} of {N_MODELS}",
                "as good as the truth": f"{sum(gain > -0.01 for gain in gains)} of {N_MODELS}",
                "lowest gain": f"{min(gains):.2f}",
                "median gain": f"{np.median(gains):.2f}",
                "median s": float(np.median([each["seconds"] for each in found])),
            }
        )
        print_table("Recovery", rows[-1:])
    print_table("Random models of two latent variables, eight columns and two links", rows)


def recover(seed: int, n_rows: int) -> dict[str, Any]:
    """Learn one random model again."""
    rng, names = np.random.default_rng(seed), "ABCDEFGH"
    parents = {"Y": {"X"}} | {name: {"X" if name in "ABCD" else "Y"} for name in names}
    places = rng.permutation(28)[:2]
    links = [list(combinations(names, 2))[place] for place in places]
    for first, second in links:
        parents[second].add(first)
    draft = Draft({"X": 2, "Y": 2}, {n: frozenset(parents.get(n, ())) for n in ("X", "Y", *names)})
    truth = fill(draft.build([Variable(name, ("no", "yes")) for name in names]), rng)
    data = truth.sample(n_rows, random_state=seed)
    best = fit(truth.structure, data, n_starts=32, random_state=0)
    model, taken = learn(data, random_state=0)
    structure = model.network_.structure
    learned = {frozenset((a, b)) for b in names for a in structure.parents(b) if a in names}
    true = {frozenset(pair) for pair in links}
    return {
        "found": len(learned & true),
        "false": len(learned - true),
        "latents": len(structure.latents),
        "gain": model.bic_ - best.bic_,
        "seconds": taken,
    }


PARTS = {
    "seeds": show_seeds,
    "regularization": show_regularization,
    "families": show_families,
    "enumeration": show_enumeration,
    "wide": show_wide,
    "predictive": show_predictive,
    "recovery": show_recovery,
}


if __name__ == "__main__":
    learn(datasets.load("hiv-tests"), random_state=0)  # compiles
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
