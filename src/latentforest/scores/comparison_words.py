"""What a comparison of models comes to, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from latentforest.data.results.table import Table
from latentforest.ties import find_best, is_higher

LEVEL = 0.05  # p-values below it count as differences
_SAME, _CLOSE, _FAR = 0.9, 0.5, 0.1  # adjusted Rand indices
# Differences of log evidence (Kass and Raftery 1995), below which they are called so.
_DEGREES = ((1, "hardly"), (3, "clearly"), (5, "strongly"), (math.inf, "very strongly"))
_LISTED = 4  # latent variables that are named in a sentence


def describe_comparison(
    models: Table, pairs: Table, structures: Table, latents: Table, stated: bool
) -> tuple[str, ...]:
    """Say which differences matter; that models were fitted to the rows is known or was stated."""
    if not len(pairs):
        return ()
    sentences = [
        *_describe_rows(list(models.rows()), list(pairs.rows()), stated),
        *_describe_limits(list(models.rows()), list(pairs.rows())),
        *_describe_bic(list(models.rows())),
    ]
    if len(pairs) == 1:
        sentences += _describe_structure(next(structures.rows()))
        sentences += _describe_latents(list(latents.rows()))
    return tuple(sentences)


def describe_p(p: float) -> str:
    """Write a p-value."""
    if math.isnan(p):
        return "no p-value"
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.4f}" if p < 0.001 else f"p = {p:.3f}"


def describe_number(value: float) -> str:
    """Write a number with three decimals, or two digits if it is small."""
    return f"{value:.3f}" if abs(value) >= 0.01 or value == 0 else f"{value:.2g}"


def _describe_rows(
    models: Sequence[dict[str, Any]], pairs: Sequence[dict[str, Any]], stated: bool
) -> Iterable[str]:
    if len(pairs) > 1 and _are_comparable(models, pairs):
        best = models[find_best([row["predictive_per_row"] for row in models])]["model"]
        yield f"{best!r} gives the rows the highest probability; p-values are Holm's for all pairs."
        pairs = [row for row in pairs if best in (row["first"], row["second"])]
    elif len(pairs) > 1:
        yield "The models know different columns or values; p-values are Holm's for all pairs."
    fitted = {row["model"] for row in models if row["fitted"]}
    for row in pairs:
        yield _describe_pair(row, {row["first"], row["second"]} <= fitted)
    shown = "p_holm" if len(fitted) == len(models) else "difference"
    if not all(math.isnan(row[shown]) for row in pairs):
        yield _describe_novelty(models, stated)


def _describe_novelty(models: Sequence[dict[str, Any]], stated: bool) -> str:
    """Say whether the rows are new to the models, and what follows."""
    known = [repr(row["model"]) for row in models if row["fitted"]]
    others = [repr(row["model"]) for row in models if not row["fitted"]]
    if not others:
        source = "" if stated else ", which their records say"
        return (
            "The p-values take the numbers of parameters into account (Vuong's correction), as the "
            f"models were fitted to these rows{source}."
        )
    if not known:
        return (
            "This holds if the rows are new to the models. Rows that models were fitted to favour "
            "the larger one: then say so with fitted=True (--fitted)."
        )
    between = " Among them, Vuong's correction is taken." if len(known) > 1 else ""
    return (
        f"Fitted to these rows, as is recorded: {', '.join(known)}.{between} This favours "
        f"{'them' if len(known) > 1 else 'it'} over {', '.join(others)}. If all were fitted "
        "to them, say so with fitted=True (--fitted)."
    )


def _are_comparable(models: Sequence[dict[str, Any]], pairs: Sequence[dict[str, Any]]) -> bool:
    """Whether the numbers of all models are of the same cells, and one of them is the best."""
    is_same = len({row["n_columns"] for row in (*models, *pairs)}) == 1
    has_best = any(math.isfinite(row["predictive_per_row"]) for row in models)
    return is_same and has_best and not any(row["hidden_rows"] for row in pairs)


def _describe_pair(row: dict[str, Any], fitted: bool) -> str:
    gap, p = row["difference"], row["p_holm"]
    first, second = f"{row['first']!r}", f"{row['second']!r}"
    if not row["n_columns"]:
        return f"{first} and {second} have no column in common, so no row is compared."
    if math.isnan(gap):
        return f"No row is possible under both {first} and {second}, so none is compared."
    if row["standard_error"] < 1e-12 and abs(gap) < 1e-12:
        return f"{first} and {second} give every row the same probability."
    better, worse = (first, second) if gap > 0 else (second, first)
    if row["standard_error"] < 1e-12:
        return (
            f"{better} gives all rows more than {worse}, each by {describe_number(abs(gap))}, so "
            "there is no variance to test it by."
        )
    error = f"standard error {describe_number(row['standard_error'])}"
    if fitted and math.isnan(p):
        return (
            f"{better} gives the rows more than {worse} by {describe_number(abs(gap))} per row "
            f"({error}); as they were fitted to these rows by different columns, new rows decide."
        )
    if fitted and row["p_distinct"] >= LEVEL:
        return (
            f"{first} and {second} give the rows nearly the same probabilities (Vuong's test of "
            f"the variance: {describe_p(row['p_distinct'])}): BIC or new rows decide."
        )
    numbers = f"{describe_number(abs(gap))} per row ({error}, {describe_p(p)})"
    if not math.isnan(p) and p >= LEVEL:
        return f"Between {first} and {second} the rows do not decide: {numbers}."
    if fitted and row["z_corrected"] * gap < 0:
        return (
            f"{better} gives the rows more by {numbers}, but less than its further parameters do "
            f"by chance: {worse} is to be preferred."
        )
    return f"{better} is better than {worse} by {numbers}."


def _describe_limits(
    models: Sequence[dict[str, Any]], pairs: Sequence[dict[str, Any]]
) -> Iterable[str]:
    """Say what was left out of a comparison."""
    sizes = {row["model"]: row["n_columns"] for row in models}
    for row in pairs:
        first, second, shared = row["first"], row["second"], row["n_columns"]
        if 0 < shared < max(sizes[first], sizes[second]):
            yield (
                f"{first!r} has {_count(sizes[first], 'column')} and {second!r} "
                f"{sizes[second]:,}: they are compared by the {shared:,} of the same kind that "
                "both have. Log-likelihoods and BIC of the models are of all their columns, and "
                "not comparable."
            )
        if row["hidden_rows"]:
            yield (
                f"In {_count(row['hidden_rows'], 'row')} there are values that only one of "
                f"{first!r} and {second!r} knows; these were hidden from both."
            )
        for name, other, n_rows in (
            (first, second, row["impossible_first"]),
            (second, first, row["impossible_second"]),
        ):
            if n_rows and row["n_columns"]:
                yield (
                    f"Under {name!r}, {_count(n_rows, 'row')} cannot occur, which no other row "
                    f"makes up for; the difference to {other!r} is of the rest."
                )


def _describe_bic(models: Sequence[dict[str, Any]]) -> Iterable[str]:
    """BIC is for rows that were fitted, and for models of the same columns."""
    values = [row["bic"] for row in models]
    fitted = all(row["fitted"] for row in models)
    if not fitted or len({row["n_columns"] for row in models}) > 1 or len(models) < 2:
        return
    best = find_best(values)
    others = [value for i, value in enumerate(values) if i != best]
    if not math.isfinite(values[best]) or not is_higher(values[best], max(others)):
        return
    gap = values[best] - max(others)
    degree = next(word for limit, word in _DEGREES if gap < limit)
    yield f"BIC {degree} prefers {models[best]['model']!r}: it is higher by {gap:,.1f}."


def _describe_structure(row: dict[str, Any]) -> Iterable[str]:
    total = row["common_edges"] + row["only_first"] + row["only_second"]
    if total == 0:
        return
    if row["hamming"] == 0:
        yield f"The structures are the same: {_count(row['common_edges'], 'edge')}."
        return
    splits = row["splits"]
    forests = "" if math.isnan(splits) else f"; as forests they differ in {_count(splits, 'split')}"
    yield (
        f"Of {_count(total, 'edge')}, {row['common_edges']:,} are in both, {row['only_first']:,} "
        f"only in {row['first']!r}, {row['only_second']:,} only in {row['second']!r} (structural "
        f"Hamming distance {row['hamming']:,}){forests}."
    )


def _describe_latents(rows: Sequence[dict[str, Any]]) -> Iterable[str]:
    groups = (
        (_SAME, math.inf, "say the same of the rows"),
        (_CLOSE, _SAME, "say much the same of the rows"),
        (_FAR, _CLOSE, "have something in common"),
        (-math.inf, _FAR, "have nothing to do with each other, though no better match was left"),
    )
    for low, high, words in groups:
        found = [row for row in rows if low <= row["adjusted_rand"] < high]
        if found:
            listed = "; ".join(
                f"{row['latent']!r} and {row['other_latent']!r} ({row['adjusted_rand']:.2f})"
                for row in found[:_LISTED]
            )
            more = f"; and {len(found) - _LISTED:,} more pairs" if len(found) > _LISTED else ""
            yield f"Latent variables that {words} (adjusted Rand index): {listed}{more}."


def _count(number: float, noun: str) -> str:
    return f"{number:,.0f} {noun}" + ("" if number == 1 else "s")
