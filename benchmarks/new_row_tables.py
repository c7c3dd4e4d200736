"""Tables for `new_rows.py`: generated ones of many kinds, and those that libraries bring along."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import latentforest as lf

STATSMODELS = (
    *("anes96", "cancer", "ccard", "committee", "copper", "cpunish", "engel", "fair", "heart"),
    *("longley", "macrodata", "modechoice", "scotland", "spector", "stackloss", "star98"),
    *("statecrime", "strikes"),
)
SCIKIT_LEARN = ("breast_cancer", "diabetes", "linnerud")

Tables = Iterator[tuple[str, lf.Dataset]]


def read_tables(paths: list[str]) -> Tables:
    """Read files, and all tables of folders."""
    for path in map(Path, paths):
        found = sorted([*path.rglob("*.arff"), *path.rglob("*.csv")]) if path.is_dir() else [path]
        for file in found:
            if not file.name.endswith((".folds.csv", ".labels.csv")):
                yield file.stem, lf.read(file)


def load_builtin() -> Tables:
    """Tables of scikit-learn and statsmodels."""
    from sklearn import datasets

    for name in SCIKIT_LEARN:
        frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
        yield name, lf.Dataset.from_table(frame)
    digits = datasets.load_digits(as_frame=True).frame.iloc[:600, 1:33].astype(int)
    yield "digits", lf.Dataset.from_table(digits, kinds="categorical")
    for name in STATSMODELS:
        module = importlib.import_module(f"statsmodels.datasets.{name}")
        yield name, lf.Dataset.from_table(module.load_pandas().data)


def generate() -> Tables:
    """Tables that are hard for new rows."""
    yield from _generate_texts()
    yield from _generate_numbers()
    yield from _generate_mixed()


def _generate_texts() -> Tables:
    rng = np.random.default_rng(5)
    a = rng.integers(30, size=600)
    b = np.where(rng.random(600) < 0.7, a * 7 % 25, rng.integers(25, size=600))
    yield "many states given many", _label({"a": a, "b": b, "c": a % 5})
    a = rng.zipf(1.3, 300) % 200
    yield "sparse states", _label({"a": a, "b": a * 3 % 50, "c": rng.integers(3, size=300)})
    kind = rng.integers(4, size=500)
    items = {f"x{j}": _blur(rng, kind * (j + 1) % 4, 4, 0.3) for j in range(12)}
    yield "items", _label(items)
    yield (
        "wide and short",
        _label({f"x{j}": _blur(rng, kind[:40] * (j + 1) % 3, 3, 0.4) for j in range(60)}),
    )
    rare = {
        f"x{j}": rng.choice(6, size=400, p=[0.9, 0.06, 0.02, 0.01, 0.005, 0.005]) for j in "abcde"
    }
    yield "rare states", _label(rare | {"xf": np.where(kind[:400] == 0, rare["xa"], 7)})
    copies = {f"x{j}": _blur(rng, kind, 4, 0.02) for j in range(6)}
    yield "near-copies of texts", _label(copies)
    yield "16 rows of texts", _label({f"x{j}": _blur(rng, kind[:23], 3, 0.4) for j in range(5)})
    noise = {f"x{j}": rng.integers(5, size=120) for j in range(10)}
    yield "noise", _label(noise)


def _generate_numbers() -> Tables:
    rng = np.random.default_rng(6)
    kind = rng.integers(3, size=200)
    heavy = rng.standard_t(1.5, size=(200, 3)) + 4.0 * kind[:, None]
    yield "heavy tails", _numbers(heavy)
    yield "rounded", _numbers(np.round(heavy[:, :2].clip(-20, 20) * 2) / 2)
    whole = rng.poisson(np.array([0.3, 4.0, 30.0])[kind][:, None], size=(200, 3)).astype(float)
    yield "whole numbers", _numbers(whole)
    still = np.where(kind[:, None] == 0, 1.0, rng.normal(3.0, 1.0, size=(200, 3)))
    yield "constant in a class", _numbers(still)
    yield "few rows", _numbers(rng.normal(size=(24, 5)) + kind[:24, None])
    yield "heavy ties", _numbers(np.round(rng.normal(kind[:, None], 0.8, size=(200, 6))))
    grown = np.exp(rng.normal(1.5 * kind[:, None], 1.0, size=(200, 4)))
    yield "zero-inflated", _numbers(np.where(rng.random((200, 4)) < 0.5, 0.0, grown))
    base = rng.normal(kind[:, None], 0.5, size=(200, 2))
    near = np.hstack([base, base + rng.normal(0, 1e-3, size=(200, 2)), base @ [[1], [2]]])
    yield "near-copies of numbers", _numbers(near + rng.normal(0, 1e-3, size=near.shape))
    gaps = rng.choice([1, 2, 5, 10, 20, 50, 100], size=(300, 5)) * (1 + (kind[0] == 1))
    yield "whole numbers with gaps", _numbers(gaps.astype(float))
    yield "wide and short numbers", _numbers(rng.normal(size=(40, 30)) + 2.0 * kind[:40, None])
    yield "noise of numbers", _numbers(rng.normal(size=(60, 8)))


def _generate_mixed() -> Tables:
    rng = np.random.default_rng(7)
    kind = rng.integers(3, size=300)
    texts = {f"t{j}": _blur(rng, kind, 3, 0.3).astype(str) for j in range(4)}
    numbers = {f"x{j}": rng.normal(2.0 * kind, 1.0) for j in range(4)}
    yield "mixed", lf.Dataset.from_table(texts | numbers)
    holes = {
        name: [
            None if hole else value
            for value, hole in zip(column, rng.random(300) < 0.3, strict=True)
        ]
        for name, column in (texts | numbers).items()
    }
    yield "mixed, 30% missing", lf.Dataset.from_table(holes)
    only = {name: column for name, column in holes.items() if name[0] == "t"}
    yield "texts, 30% missing", lf.Dataset.from_table(only)
    many = {"place": rng.integers(40, size=300).astype(str)}
    yield "numbers by place", lf.Dataset.from_table(many | numbers)


def _blur(rng: Any, values: Any, n_states: int, share: float) -> Any:
    """Put noise in the place of a share of the values."""
    return np.where(
        rng.random(len(values)) < share, rng.integers(n_states, size=len(values)), values
    )


def _numbers(values: Any) -> lf.Dataset:
    return lf.Dataset.from_table(np.asarray(values, float), kinds="continuous")


def _label(columns: dict[str, Any]) -> lf.Dataset:
    return lf.Dataset.from_table({name: list(map(str, each)) for name, each in columns.items()})
