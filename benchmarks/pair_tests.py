"""How often the test of `benchmark` finds a difference between learners that are equally good.

A table has pairs of columns. Some pairs are the first learner's and as many the second's; a learner
models its own pairs by a joint table and all other columns one by one. By symmetry, both learners
are equally good over all tables. Run with ``python benchmarks/pair_tests.py``; numbers after it are
replications and seed (default 1000 and 1); ``learners`` in front of them draws tables for
real learners instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtr, stdtr

from common import print_table
from latentforest import LatentClass
from latentforest.benchmarking.pair_tests import CAUTION, FoldParts
from latentforest.datasets import generate, random_latent_class

LEVEL = 0.05
TABLES = [(n, k) for n in (100, 500, 2000) for k in (5, 10)]


@dataclass(frozen=True)
class Case:
    """Two learners and the tables they meet.

    ``kind`` is how a learner goes about its pairs: ``joint`` models them all; ``choose`` only those
    for which BIC is in favour; ``coin`` takes its own or the other's, anew for every fold;
    ``alone`` is ``joint`` against a learner that models all columns one by one; ``shift`` draws
    differences without a learner. Strengths of the pairs are functions of rows and folds.
    """

    name: str
    kind: str
    n_pairs: int
    n_states: int
    strength: Callable[[int, int], float]
    advantage: float = 0.0  # of the second learner's pairs, over the root of the number of rows


def threshold(factor: float, n_states: int) -> Callable[[int, int], float]:
    """Strength at which BIC is undecided about a pair, times a factor."""
    return lambda n, k: factor * float(np.sqrt((n_states - 1) * np.log(n) / n))


def make_cells(strength: float, s: int) -> np.ndarray:
    """Probabilities of a pair's cells: equal states are more probable by the strength."""
    return ((1 - strength) / s**2 + strength * np.eye(s) / s).ravel()


def find_gains(counts: np.ndarray, s: int) -> np.ndarray:
    """Log-probability of each cell by the joint table less that by both columns."""
    cells = (counts + 0.5).reshape(*counts.shape[:-1], s, s)
    p = cells / cells.sum((-1, -2), keepdims=True)
    gains = np.log(p) - np.log(p.sum(-1, keepdims=True) * p.sum(-2, keepdims=True))
    return gains.reshape(counts.shape)


def is_worth_it(counts: np.ndarray, s: int) -> np.ndarray:
    """Whether BIC is in favour of the joint table."""
    n = counts.sum(-1)
    p = counts.reshape(*counts.shape[:-1], s, s) / n[..., None, None]
    apart = p.sum(-1, keepdims=True) * p.sum(-2, keepdims=True)
    logs = np.log(np.where(p > 0, p, 1) / np.where(p > 0, apart, 1))
    return n * (p * logs).sum((-1, -2)) > (s - 1) ** 2 / 2 * np.log(n)


@cache
def find_balance(n: int, k: int, s: int) -> float:
    """Strength at which a joint table gains as much as it loses by its further parameters."""
    low, high = 0.0, 0.9
    for _ in range(25):
        middle = (low + high) / 2
        cells = make_cells(middle, s)
        train = np.random.default_rng(5).multinomial(n - n // k, cells, size=20_000).astype(float)
        gain = float((find_gains(train, s) * cells).sum(-1).mean())
        low, high = (middle, high) if gain < 0 else (low, middle)
    return low


def draw_differences(case: Case, n: int, k: int, random: np.random.Generator) -> np.ndarray:
    """Differences of the held-out rows of one table, fold after fold."""
    s, n_pairs = case.n_states, 2 * case.n_pairs
    if case.kind == "shift":
        return draw_shifted(n, k, random)
    strength = case.strength(n, k)
    strengths = np.repeat([strength, strength + case.advantage / np.sqrt(n)], case.n_pairs)
    cells = [
        np.searchsorted(np.cumsum(make_cells(each, s))[:-1], random.random(n), side="right")
        for each in strengths
    ]
    place = (np.arange(n) * k // n * n_pairs + np.arange(n_pairs)[:, None]) * s * s + cells
    counts = np.bincount(place.ravel(), minlength=k * n_pairs * s * s).reshape(k, n_pairs, s * s)
    train = (counts.sum(0) - counts).astype(float)
    gains = find_gains(train, s) * np.repeat([1, -1], case.n_pairs)[:, None]
    if case.kind == "choose":
        gains *= is_worth_it(train, s)[..., None]
    elif case.kind == "coin":
        first, second = random.random((2, k)) < 0.5
        gains *= (first.astype(float) - second)[:, None, None]
    elif case.kind == "alone":
        gains[:, case.n_pairs :] = 0
    return gains.ravel()[place].sum(0)


def draw_shifted(n: int, k: int, random: np.random.Generator) -> np.ndarray:
    """Normal rows, and a shift of each fold, so that means of folds have the correlation 1/k."""
    common, own = random.normal(), random.normal(size=k)
    shifts = np.sqrt(0.5 * k / n) * (np.sqrt(3 / k) * common + np.sqrt(1 - 3 / k) * own)
    return random.normal(size=n) + np.repeat(shifts, n // k)


@cache
def make_parts(n: int, k: int) -> FoldParts:
    """Folds of equal size, one after another."""
    folds = np.arange(n) * k // n
    return FoldParts.from_weights([(folds == fold) * 1.0 for fold in range(k)], range(k))


def list_rules(gaps: np.ndarray, k: int) -> dict[str, float]:
    """p-values of all rules for the differences of one table."""
    n = len(gaps)
    mean, by_rows = gaps.mean(), gaps.var() * k / n
    by_folds = gaps.reshape(k, -1).mean(1).var(ddof=1)
    larger = max(by_rows, by_folds)

    def judge(variance: float, df: float = np.inf) -> float:
        z = abs(mean) / np.sqrt(variance) if variance > 1e-24 else 0.0
        return float(2 * (stdtr(df, -z) if np.isfinite(df) else ndtr(-z)))

    return {
        "library": make_parts(n, k).estimate(gaps, CAUTION).p,
        **{f"larger, {m:g}": judge(larger * (1 / k + m / (k - 1))) for m in (1, 1.5, 2, 2.5, 3)},
        "larger, 1, t": judge(larger * (1 / k + 1 / (k - 1)), k - 1),
        "corrected t of folds": judge(by_folds * (1 / k + 1 / (k - 1)), k - 1),
        "t of rows": judge(by_rows / k, n - 1),
    }


CASES = [
    Case("nothing to find", "joint", 4, 3, lambda n, k: 0.0),
    Case("different models", "joint", 1, 3, lambda n, k: 0.4),
    *(
        Case(f"BIC chooses among {m} of {s} states, {f:g}", "choose", m, s, threshold(f, s))
        for m, s in ((1, 3), (4, 3), (2, 2))
        for f in (0.9, 1.0, 1.1, 1.25)
    ),
    Case("optimum by chance", "coin", 1, 3, lambda n, k: 0.4),
    Case("gain as loss, 1", "alone", 1, 3, lambda n, k: find_balance(n, k, 3)),
    Case("gain as loss, 4", "alone", 4, 3, lambda n, k: find_balance(n, k, 3)),
    Case("shifted folds", "shift", 1, 3, lambda n, k: 0.0),
]
POWER = [
    Case(f"better by {gap:g} standard errors", "joint", 1, 3, lambda n, k: 0.4, gap)
    for gap in (3.0, 5.0)
]


def find_share(case: Case, n: int, k: int, n_tables: int, seed: int) -> dict[str, float]:
    """Share of tables in which each rule finds a difference."""
    random = np.random.default_rng([seed, n, k])
    found = [list_rules(draw_differences(case, n, k, random), k) for _ in range(n_tables)]
    return {rule: float(np.mean([each[rule] < LEVEL for each in found])) for rule in found[0]}


def simulate(n_tables: int, seed: int) -> None:
    """Levels and powers of all rules."""
    rows = [
        {"case": case.name, "rows": n, "folds": k, **find_share(case, n, k, n_tables, seed)}
        for case in (*CASES, *POWER)
        for n, k in TABLES
    ]
    print_table(f"Share of p < {LEVEL} in {n_tables:,} tables", rows)
    rules = list(rows[0])[3:]
    equal = [row for row in rows if row["case"] in [case.name for case in CASES]]
    summary = [
        {"rule": rule, "highest level": max(row[rule] for row in equal)}
        | {
            case.name: float(np.mean([row[rule] for row in rows if row["case"] == case.name]))
            for case in POWER
        }
        for rule in rules
    ]
    print_table("Highest level, mean power", summary)


def meet_learners(n_tables: int, seed: int, n: int = 500, k: int = 5) -> None:
    """Two latent class models of one start each, whose seeds differ."""
    rows, folds = [], np.arange(n) * k // n
    for table in range(n_tables):
        truth = random_latent_class(6, 3, strength=0.5, random_state=seed + table)
        data = generate(truth, n, random_state=seed + table)
        gaps = np.zeros(n)
        for fold in range(k):
            for sign in (1, -1):
                start = 2 * (table * k + fold) + (sign > 0)
                model = LatentClass(3, n_starts=1, random_state=start).fit(data.take(folds != fold))
                gaps[folds == fold] += sign * model.score_samples(data.take(folds == fold))
        rows.append(list_rules(gaps, k))
    shares = {rule: float(np.mean([each[rule] < LEVEL for each in rows])) for rule in rows[0]}
    print_table(f"Latent class models by chance, {n_tables:,} tables", [{"rows": n, **shares}])


if __name__ == "__main__":
    run = meet_learners if "learners" in sys.argv[1:2] else simulate
    numbers = [int(each) for each in sys.argv[1:] if each != "learners"]
    run(*(numbers + [1000, 1][len(numbers) :]))
