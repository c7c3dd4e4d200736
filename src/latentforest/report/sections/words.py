"""The report in words: four short paragraphs and a column of facts, made from the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from latentforest.report.sections.fit import name_kind
from latentforest.report.subject import Subject
from latentforest.report.wording import (
    Span,
    count,
    join_spans,
    pluralize,
    singularize,
    write_number,
    write_seconds,
    write_share,
    write_weight,
)

MOST_NAMED = 4  # variables that say most
PRACTICALLY_ALL = 0.95  # share of clear rows
SIMPLE = 0.9  # of the information in a simple variable is in its two columns

Content = Mapping[str, Any]


def describe_words(subject: Subject, content: Content) -> dict[str, Any]:
    """Write the paragraphs and the facts; the warnings are made elsewhere."""
    paragraphs = [
        introduce(subject, content),
        _name_most_telling(subject, content),
        _judge_fit(subject, content),
        _judge_certainty(subject, content),
    ]
    return {
        "paragraphs": [each for each in paragraphs if each],
        "facts": list_facts(subject, content),
    }


def introduce(subject: Subject, content: Content) -> list[Span]:
    """The table and what was found."""
    table = content["table"]
    opening = _introduce_table(subject, table) if table else _introduce_model(subject)
    return [*opening, *_say_found(subject, content)]


def _introduce_table(subject: Subject, table: Content) -> list[Span]:
    rows, weight = _count_rows(subject, table)
    kinds = {"categorical": table["n_categorical"], "continuous": table["n_continuous"]}
    there = {kind: n for kind, n in kinds.items() if n}
    if len(there) == 1:
        kind = next(iter(there))
        sort = kind if table["n_columns"] == 1 else f"all {kind}"
    else:
        sort = " and ".join(f"{write_number(n)} {kind}" for kind, n in there.items())
    share = table["missing_share"]
    gaps = "no missing values" if not share else f"{write_share(share)} of the values missing"
    spans: list[Span] = [{"strong": rows}, f"{weight} and "]
    spans += [{"strong": count(table["n_columns"], "column")}, f", {sort}, {gaps}. "]
    if table["is_training"] is False:
        spans.append("This is not the table that the model was learned from. ")
    return spans


def _count_rows(subject: Subject, table: Content) -> tuple[str, str]:
    """Count the rows; whole weights are counts of equal rows."""
    n, total, noun = table["n_rows"], table["total_weight"], singularize(subject.noun)
    if not table["is_weighted"]:
        return count(n, noun, subject.noun), ""
    if bool((subject.weights == subject.weights.round()).all()):
        given = f", given as {count(n, 'weighted row')}," if total != n else ""
        return count(total, noun, subject.noun), given
    return count(n, noun, subject.noun), f" (total weight {write_weight(total)})"


def _introduce_model(subject: Subject) -> list[Span]:
    columns = count(len(subject.network.observed), "column")
    return ["A model of ", {"strong": columns}, ", shown without its table. "]


def _say_found(subject: Subject, content: Content) -> list[Span]:
    network, kind = subject.network, name_kind(subject)
    n_latents, n_arcs = len(network.latents), len(content["graph"]["edges"])
    if kind == "Latent class model":
        return _say_classes(subject)
    if n_latents == 0:
        return _say_no_latents(subject, n_arcs)
    found: Span = {"found": count(n_latents, "hidden variable")}
    account = "accounts" if n_latents == 1 else "account"
    end = f" that {account} for how the columns go together."
    return [*_begin_found(subject), found, end, *_say_alone(subject)]


def _begin_found(subject: Subject) -> list[Span]:
    learner = None if subject.record is None else subject.record.learner
    return ["The model has "] if learner is None else [f"{learner} found "]


def _say_classes(subject: Subject) -> list[Span]:
    (latent,) = subject.network.latents
    n = len(subject.network.structure.states(latent))
    if n == 1:
        return ["The model has one class, in which the columns are independent."]
    found: Span = {"found": f"one hidden variable with {count(n, 'state')}"}
    return [
        "The model has ",
        found,
        f", often called classes: groups of {subject.noun} that are alike.",
    ]


def _say_no_latents(subject: Subject, n_arcs: int) -> list[Span]:
    learner = None if subject.record is None else subject.record.learner
    if n_arcs == 0:
        if learner == "Independence":
            return ["The columns are taken one by one; how they go together is not modelled."]
        return [*_begin_found(subject), "no link between the columns, and no hidden variable."]
    links: Span = {"found": f"{count(n_arcs, 'link')} between the columns"}
    return [*_begin_found(subject), links, ". There is no hidden variable.", *_say_alone(subject)]


def _say_alone(subject: Subject) -> list[Span]:
    """Columns that are linked to nothing."""
    structure = subject.network.structure
    alone = [
        n for n in structure.observed if not structure.neighbours(n) and len(structure.pouch(n)) < 2
    ]
    if not alone:
        return []
    are = "is" if len(alone) == 1 else "are"
    return [f" {count(len(alone), 'column')} {are} linked to nothing."]


def _name_most_telling(subject: Subject, content: Content) -> list[Span]:
    """The latent variables that say most, by entropy; how many are simple."""
    profiles = [each for each in content["profiles"] if len(each["sizes"]) > 1]
    if not profiles:
        return _name_strongest_links(content)
    if len(profiles) == 1:
        return _describe_states(subject, profiles[0])
    variables = content["variables"]
    ranked = sorted(profiles, key=lambda each: (-each["entropy"], each["latent"]))[:MOST_NAMED]
    parts: list[list[Span]] = [
        [{"variable": each["latent"]}, f" ({count(len(each['sizes']), 'state')})"]
        for each in ranked
    ]
    opening = "It is " if len(parts) == 1 else f"Those that say most about the {subject.noun}: "
    named = {each["latent"] for each in ranked}
    simple = [
        each for each in profiles if each["latent"] not in named and _is_simple(each, variables)
    ]
    spans: list[Span] = [opening, *join_spans(parts), "."]
    if simple:
        verb = "is simple: it ties" if len(simple) == 1 else "are simple: each ties"
        spans.append(
            f" Another {write_number(len(simple))} {verb} two columns together, and little else."
        )
    return spans


def _is_simple(profile: Content, variables: Sequence[Content]) -> bool:
    """Whether two own columns tell nearly all that there is to know."""
    own = [each for each in profile["columns"] if each["through"] is None]
    if len(own) != 2 or len(profile["sizes"]) > 3:
        return False
    first_two = profile["columns"][:2]
    if any(each["through"] is not None for each in first_two):
        return False
    together = first_two[-1]["together"]
    return together is not None and together >= SIMPLE


def _describe_states(subject: Subject, profile: Content) -> list[Span]:
    """The sizes of the states of a single latent variable."""
    shares = [write_share(each) for each in profile["sizes"]]
    telling = [each for each in profile["columns"][:3] if each["bits"]]
    columns: list[list[Span]] = [[{"variable": each["variable"]}] for each in telling]
    spans: list[Span] = [f"Its states hold {', '.join(shares[:-1])} and {shares[-1]}"]
    if len(shares) > 8:
        spans = [f"Its {len(shares)} states hold from {write_share(min(profile['sizes']))} to "]
        spans.append(write_share(max(profile["sizes"])))
    spans.append(f" of the {subject.noun}.")
    if columns:
        tell = (
            "The column that tells most about it is "
            if len(columns) == 1
            else "The columns that tell most about it are "
        )
        spans += [f" {tell}", *join_spans(columns), "."]
    return spans


def _name_strongest_links(content: Content) -> list[Span]:
    edges = [each for each in content["graph"]["edges"] if each["bits"]]
    if not edges:
        return []
    ranked = sorted(edges, key=lambda each: (-each["bits"], each["from"], each["to"]))[:3]
    parts: list[list[Span]] = [
        [{"variable": each["from"]}, " with ", {"variable": each["to"]}] for each in ranked
    ]
    what = "The strongest link is " if len(parts) == 1 else "The strongest links: "
    return [what, *join_spans(parts), "."]


def _judge_fit(subject: Subject, content: Content) -> list[Span]:
    """BIC against other models, and pairs that are left."""
    fit = content["fit"]
    if fit is None:
        return []
    sentences = [*_compare_models(fit["models"]), *_word_test(fit["goodness"])]
    sentences += _count_residuals(fit["residuals"])
    return [{"strong": "How well it fits."}, " ", " ".join(sentences)] if sentences else []


def _compare_models(models: Sequence[Content]) -> list[str]:
    this = next((each for each in models if each["is_this"]), None)
    others = [each for each in models if not each["is_this"]]
    if this is None:
        return []
    if not others:
        return [
            f"BIC is {write_number(this['bic'], 1)}. It weighs how well the model describes the "
            "table against how many parameters it takes; higher is better, and it says something "
            "only beside that of another model of the same table."
        ]
    best = max(others, key=lambda each: each["bic"])
    text = f"BIC, which weighs fit against the number of parameters, is {_compare(this, best)}"
    text += f" that of the best other model tried ({best['name']})"
    plain = next((each for each in others if each["name"] == "Independence"), None)
    if plain is not None and plain is not best:
        text += f" and {_compare(this, plain)} if the columns were independent"
    return [text + "; higher is better."]


def _compare(this: Content, other: Content) -> str:
    gap = this["bic"] - other["bic"]
    way = "higher" if gap >= 0 else "lower"
    return f"{write_number(abs(gap))} {way} than"


def _word_test(goodness: Content | None) -> list[str]:
    """Say what the test against the table itself gives."""
    if goodness is None or goodness["p"] is None:
        return []
    p = goodness["p"]
    chance = "under 0.001" if p < 0.001 else f"{p:.3f}"
    verdict = "so the table departs from the model" if p < 0.05 else "so there is no sign of misfit"
    return [
        f"The test of the whole table (G² {write_number(goodness['g2'], 1)}, "
        f"{count(goodness['df'], 'degree')} of freedom) gives p {chance}, {verdict}."
    ]


def _count_residuals(residuals: Content | None) -> list[str]:
    if residuals is None or not residuals["n_judged"]:
        return []
    high, judged = residuals["n_high"], residuals["n_judged"]
    if not high:
        pairs = pluralize(
            judged, "the only pair of columns", f"all {write_number(judged)} pairs of columns"
        )
        return [f"Of {pairs} that can be judged, none departs far from what the model expects."]
    still = "departs" if high == 1 else "depart"
    return [
        f"{write_number(high)} of {count(judged, 'pair')} of columns that can be judged still "
        f"{still} from what the model expects."
    ]


def _judge_certainty(subject: Subject, content: Content) -> list[Span]:
    """How clearly rows belong to states."""
    variables = content["variables"]
    known = [
        each["latent"]
        for each in content["profiles"]
        if len(each["sizes"]) > 1 and variables[each["latent"]]["clear"] is not None
    ]
    if not known:
        return []
    head: list[Span] = [{"strong": "How sure."}, " "]
    worst = min(known, key=lambda place: (variables[place]["clear"], place))
    share = variables[worst]["clear"]
    if len(known) == 1:
        return [
            *head,
            f"{write_share(share)} of the {subject.noun} have a state with 90% probability or "
            "more.",
        ]
    clear = [place for place in known if variables[place]["clear"] >= PRACTICALLY_ALL]
    end = f": {write_share(share)} of rows have a state with 90% probability or more."
    if len(clear) == len(known):
        opening = (
            f"For all {len(known)} hidden variables, practically every row clearly belongs to one "
            "state."
        )
    elif clear:
        opening = (
            f"For {len(clear)} of the {len(known)} hidden variables, practically every row clearly "
            "belongs to one state."
        )
    else:
        opening = "For no hidden variable does every row clearly belong to one state."
    only: list[Span] = [" The least clear is ", {"variable": worst}, end]
    return [*head, opening, *(only if len(clear) < len(known) else [])]


def list_facts(subject: Subject, content: Content) -> list[dict[str, str]]:
    """Facts in a column: at most seven."""
    facts: dict[str, str] = {}
    latents = [each for each in content["variables"] if each["latent"]]
    facts["Hidden variables"] = write_number(len(latents))
    if latents:
        sizes = sorted(len(each["states"]) for each in latents)
        facts["States of each" if len(latents) > 1 else "States"] = (
            str(sizes[0]) if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
        )
    else:
        facts["Links"] = write_number(len(content["graph"]["edges"]))
    facts["Free parameters"] = write_number(subject.network.dimension)
    fit = content["fit"]
    this = next((each for each in (fit or {}).get("models", []) if each["is_this"]), None)
    if this is not None:
        facts["Log-likelihood"] = write_number(this["log_likelihood"], 1)
        facts["BIC"] = write_number(this["bic"], 1)
    if fit and fit["search"]:
        facts["Steps of the search"] = write_number(fit["search"]["steps"][-1]["step"])
    if subject.record is not None and subject.record.seconds is not None:
        facts["Time"] = write_seconds(subject.record.seconds)
    return [{"label": label, "value": value} for label, value in facts.items()]
