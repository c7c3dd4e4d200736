"""Before you rely on it: every warning of a report, with its number and where to look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from latentforest.inference.columns import summarize
from latentforest.learners.registry import LEARNERS
from latentforest.report.subject import Subject
from latentforest.report.wording import (
    Span,
    count,
    count_in_words,
    join_spans,
    singularize,
    write_number,
    write_share,
    write_small,
    write_weight,
)

VAGUE = 0.8  # entropy R² below which a latent variable is vague
FEW_ROWS = 50  # of a state
MUCH_MISSING = 0.2
FEW_PER_PARAMETER = 5.0  # rows for each free parameter
BOUNDARY = 0.01  # a probability that stands for fewer rows than this counts as zero
AT_FLOOR = 1.01  # a variance up to so many times the least one is at its floor
MOST_NAMED = 3
NOT_GREEDY = ("LatentClass", "ChowLiu", "Independence")
SAME, SAME_SHARE = 0.01, 1e-7  # log-likelihoods that differ by less are the same solution

Content = Mapping[str, Any]


def list_warnings(subject: Subject, content: Content) -> list[dict[str, Any]]:
    """List what a reader must know, the most important first."""
    rules = (
        _warn_of_interruption,
        _warn_of_convergence,
        _warn_of_other_table,
        _warn_of_impossible_rows,
        _warn_of_vague,
        _warn_of_small_states,
        _warn_of_residual,
        _warn_of_one_run,
        _warn_of_starts,
        _warn_of_dimension,
        _warn_of_boundary,
        _warn_of_floor,
        _warn_of_sparse,
        _warn_of_missing,
        _warn_of_range,
    )
    found = [rule(subject, content) for rule in rules]
    return [each for each in found if each is not None]


def _warn(
    id: str, head: str, text: Sequence[Span] | str, section: str, anchor: str | None, link: str
) -> dict[str, Any]:
    spans = [text] if isinstance(text, str) else list(text)
    where = {"section": section, "anchor": anchor, "link": link}
    return {"id": id, "head": [head], "text": spans, **where}


def _warn_of_interruption(subject: Subject, content: Content) -> dict[str, Any] | None:
    record = subject.record
    if record is None or not record.interrupted:
        return None
    text = (
        "This is the best model until then; a longer search may find a better one. The seed does "
        "not tell where it ended."
    )
    return _warn("interrupted", "The search was interrupted.", text, "reproduce", None, "Run again")


def _warn_of_convergence(subject: Subject, content: Content) -> dict[str, Any] | None:
    record = subject.record
    if record is None or record.converged is not False:
        return None
    limit = record.settings.get("max_iterations")
    after = "" if limit is None else f" after {write_number(limit)} iterations"
    text = (
        f"EM, which estimates the parameters, was still improving{after}. The numbers may change "
        "if it goes on."
    )
    return _warn("convergence", "No convergence.", text, "reproduce", None, "Run again")


def _warn_of_other_table(subject: Subject, content: Content) -> dict[str, Any] | None:
    if subject.is_training is not False:
        return None
    text = (
        "Its hash differs from the one that was learned from. Fit, certainty and rows are those "
        "of the table given here; the model was not fitted to it."
    )
    return _warn("table", "This is another table.", text, "reproduce", None, "Hashes")


def _warn_of_impossible_rows(subject: Subject, content: Content) -> dict[str, Any] | None:
    if subject.data is None:
        return None
    weight = float(subject.weights[subject.assignments.impossible].sum())
    unseen = int(subject.data.unseen_rows.sum())
    if not weight and not unseen:
        return None
    parts = []
    if weight:
        rows = count(weight, singularize(subject.noun), subject.noun)
        parts.append(
            f"Probability zero in the model: {rows}. Their states come from the predictive "
            "parameters, and they are left out of the log-likelihood."
        )
    if unseen:
        rows = count(unseen, singularize(subject.noun), subject.noun)
        parts.append(f"Values that the model does not know, which count as missing: {rows}.")
    head = f"Some {subject.noun} do not fit the model at all."
    return _warn("impossible", head, " ".join(parts), "rows", None, "Rows")


def _warn_of_vague(subject: Subject, content: Content) -> dict[str, Any] | None:
    variables = content["variables"]
    vague = [
        i for i, each in enumerate(variables) if each.get("r2") is not None and each["r2"] < VAGUE
    ]
    if not vague:
        return None
    vague.sort(key=lambda i: (variables[i]["r2"], i))
    head = f"{count_in_words(len(vague), 'hidden variable is', 'hidden variables are')} vague."
    worst = variables[vague[0]]["r2"]
    text: list[Span] = [
        "Rows are spread over the states of ",
        *_name_some(vague),
        f" (entropy R² {'' if len(vague) == 1 else 'from '}{write_small(worst)}; 1 is certain). "
        "Report probabilities, not classes.",
    ]
    return _warn("vague", head, text, "fit", "certainty", "Certainty")


def _name_some(places: Sequence[int]) -> list[Span]:
    """Name the first variables of a list."""
    parts: list[list[Span]] = [[{"variable": place}] for place in places[:MOST_NAMED]]
    if len(places) > MOST_NAMED:
        parts.append([f"{len(places) - MOST_NAMED} more"])
    return join_spans(parts)


def _warn_of_small_states(subject: Subject, content: Content) -> dict[str, Any] | None:
    total = _total_weight(subject)
    if total is None:
        return None
    smallest: dict[int, float] = {}
    n_small = 0
    for profile in content["profiles"]:
        counts = None if subject.is_training is False else profile["counts"]
        sizes = counts or [share * total for share in profile["sizes"]]
        n_small += sum(size < FEW_ROWS for size in sizes)
        if min(sizes) < FEW_ROWS:
            smallest[profile["latent"]] = min(sizes)
    if not smallest:
        return None
    worst = min(smallest, key=lambda place: (smallest[place], place))
    head = count_in_words(len(smallest), "hidden variable has", "hidden variables have")
    few = "a state" if n_small == len(smallest) else f"{n_small} states"
    head += f" {few} with fewer than {FEW_ROWS} {subject.noun}."
    size = smallest[worst]
    number = write_number(size) if size >= 1 else "fewer than 1"
    text: list[Span] = [
        f"The smallest has {number} (",
        {"variable": worst},
        "). Such profiles rest on few rows.",
    ]
    return _warn("small", head, text, "profiles", f"v{worst}", "Look")


def _total_weight(subject: Subject) -> float | None:
    """Weight of the rows that the parameters rest on: not of another table."""
    if subject.data is not None and subject.is_training is not False:
        return subject.data.total_weight
    return None if subject.record is None else subject.record.table.get("total_weight")


def _warn_of_residual(subject: Subject, content: Content) -> dict[str, Any] | None:
    residuals = (content["fit"] or {}).get("residuals")
    if not residuals or not residuals["n_high"]:
        return None
    worst = residuals["largest"][0]
    text: list[Span] = [
        "Most of all between ",
        {"variable": worst["a"]},
        " and ",
        {"variable": worst["b"]},
        f" (residual {write_small(worst['value'])}; about 1 is expected).",
    ]
    return _warn(
        "residual", "Some association is left over.", text, "fit", "residuals", "All pairs"
    )


def _warn_of_one_run(subject: Subject, content: Content) -> dict[str, Any] | None:
    record = subject.record
    entry = next((each for each in LEARNERS if record and each.name == record.learner), None)
    if record is None or entry is None or entry.name in NOT_GREEDY:
        return None
    what = "tree" if subject.network.structure.is_forest else "network"
    scores = [row["score"] for row in record.history if "run" in row and "operator" not in row]
    if len(scores) > 1:
        return _warn_of_runs(scores, what)
    runs = record.settings.get("n_runs")
    if isinstance(runs, int) and runs > 1:
        head = f"{count_in_words(runs, 'run')}, greedy."
        text = (
            f"The best of {runs} runs is shown, each of which ends where no single step helps. "
            f"Other seeds may end at a different {what}."
        )
        return _warn("greedy", head, text, "reproduce", None, "Run again")
    text = (
        f"The search ends where no single step helps. Another seed may end at a different {what}; "
        "nothing here says how different."
    )
    return _warn("greedy", "One run, greedy.", text, "reproduce", None, "Run again")


def _warn_of_runs(scores: Sequence[float], what: str) -> dict[str, Any] | None:
    """Several runs of one search: was the best result found again?"""
    best = max(scores)
    n_same = sum(score >= best - SAME - SAME_SHARE * abs(best) for score in scores)
    if n_same > 1:
        return None
    text = (
        f"One of {count(len(scores), 'run')} of the search ended at this {what}, the others at "
        "worse ones. More runs may find a better one."
    )
    head = f"The best {what} was found once."
    return _warn("starts", head, text, "reproduce", None, "Run again")


def _warn_of_starts(subject: Subject, content: Content) -> dict[str, Any] | None:
    """The same model with other seeds, where it was fitted: was the solution found again?"""
    record = subject.record
    found = [each for each in subject.comparisons or () if each.get("is_again")]
    if not found or record is None or record.log_likelihood is None:
        return None
    slack = SAME + SAME_SHARE * abs(record.log_likelihood)
    gains = [float(each["log_likelihood"]) - record.log_likelihood for each in found]
    n_same = sum(gain >= -slack for gain in gains)
    runs = f"{write_number(len(gains))} further runs from other seeds"
    if max(gains) > slack:
        head = "A better solution of the same model is known."
        text = (
            f"One of {runs} reached a log-likelihood that is higher by {write_small(max(gains))}. "
            "Fit it again with more starts."
        )
    elif not n_same:
        head = "The solution was not found again."
        text = (
            f"None of {runs} reached its log-likelihood; the best fell short by "
            f"{write_small(-max(gains))}. It may be a local maximum; more starts would tell."
        )
    else:
        return None
    return _warn("starts", head, text, "reproduce", None, "Run again")


def _warn_of_dimension(subject: Subject, content: Content) -> dict[str, Any] | None:
    goodness = (content["fit"] or {}).get("goodness")
    if not goodness or goodness["df"] == goodness["df_nominal"]:
        return None
    extra = goodness["df"] - goodness["df_nominal"]
    n = subject.network.dimension
    text = (
        f"The model has {write_number(n)} parameters, but a table of these columns can determine "
        f"only {write_number(n - extra)} of them. Other values of the parameters fit as well, so "
        "profiles may differ from run to run."
    )
    return _warn("unidentified", "Not identified.", text, "fit", "goodness", "Test of fit")


def _warn_of_boundary(subject: Subject, content: Content) -> dict[str, Any] | None:
    """Probabilities of zero or one that were estimated below latent variables."""
    structure, total = subject.network.structure, _total_weight(subject)
    latents = set(structure.latents)
    if not latents or total is None:
        return None
    n_zero, worst, most = 0, -1, 0
    for name in structure.names:
        if name in structure.continuous or not latents & set(structure.parents(name)):
            continue
        table = subject.network.table_view(name)
        possible = subject.tables.marginal(name) > 0
        here = int(np.count_nonzero((table * total < BOUNDARY)[..., possible]))
        n_zero += here
        if here > most:
            worst, most = subject.places[name], here
    if not n_zero:
        return None
    text: list[Span] = [
        "The model rules out what no row shows, most often for values of ",
        {"variable": worst},
        f" ({write_number(most)}). New rows may show it: the predictive parameters have no zeros.",
    ]
    head = f"{count(n_zero, 'probability is', 'probabilities are')} at 0 or 1."
    return _warn("boundary", head, text, "ask", None, "Ask with predictive parameters")


def _warn_of_floor(subject: Subject, content: Content) -> dict[str, Any] | None:
    """Variances that would have shrunk to nothing."""
    structure, data = subject.network.structure, subject.data
    if not structure.continuous or data is None or subject.is_training is False:
        return None
    at_floor = {}
    for name in structure.continuous:
        least = summarize(name, data.column(name), data.weights).least_variance
        table, pouch = subject.network.table_view(name), structure.pouch(name)
        own = 1 + pouch.index(name) if len(pouch) > 1 else -1
        n = int(np.count_nonzero(table[..., own] <= AT_FLOOR * least))
        if n:
            at_floor[subject.places[name]] = n
    if not at_floor:
        return None
    total = sum(at_floor.values())
    worst = sorted(at_floor, key=lambda place: (-at_floor[place], place))
    text: list[Span] = [
        "Some states hold nearly equal values of ",
        *_name_some(worst),
        ", and their variance is held at a least value. Their likelihood says little.",
    ]
    head = f"{count_in_words(total, 'variance is', 'variances are')} at the floor."
    return _warn("floor", head, text, "profiles", None, "Look")


def _warn_of_sparse(subject: Subject, content: Content) -> dict[str, Any] | None:
    total, n = _total_weight(subject), subject.network.dimension
    goodness = (content["fit"] or {}).get("goodness")
    if goodness and goodness["p"] is None and goodness["df"] > 0 and total is not None:
        text = (
            f"The columns have {write_number(goodness['n_cells'])} possible rows, and "
            f"{write_weight(total)} were seen: too few in each for a test of the whole model by "
            "chi-square. The residuals of pairs still tell."
        )
        return _warn("sparse", "The table is sparse.", text, "fit", "goodness", "Test of fit")
    if total is None or n == 0 or total / n >= FEW_PER_PARAMETER:
        return None
    text = (
        f"{count(n, 'parameter was', 'parameters were')} estimated from "
        f"{count(total, singularize(subject.noun), subject.noun)}: "
        f"{write_small(total / n)} for each. Many of them are not known well."
    )
    return _warn("sparse", "Few rows for so many parameters.", text, "fit", "models", "Models")


def _warn_of_missing(subject: Subject, content: Content) -> dict[str, Any] | None:
    table = content["table"]
    if not table or not table["missing_share"] or table["missing_share"] <= MUCH_MISSING:
        return None
    gaps = [(each["missing"] or 0.0, i) for i, each in enumerate(content["variables"])]
    share, worst = max(gaps, key=lambda pair: (pair[0], -pair[1]))
    text: list[Span] = [
        f"{write_share(table['missing_share'])} of all; most in ",
        {"variable": worst},
        f" ({write_share(share)}). The model takes them as missing at random: for reasons that "
        "have nothing to do with the values themselves, given the rest of the row.",
    ]
    return _warn("missing", "Many values are missing.", text, "profiles", None, "Look")


def _warn_of_range(subject: Subject, content: Content) -> dict[str, Any] | None:
    """Hints of the learner: a choice that ended at the edge of its range."""
    notes = [] if subject.record is None else list(subject.record.notes)
    if not notes:
        return None
    head = "A choice ended at the edge of its range."
    return _warn(
        "range", head, " ".join(str(note) for note in notes), "reproduce", None, "Run again"
    )
