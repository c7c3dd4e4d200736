"""The report as one HTML file: a template, the style sheets, the scripts and the content as JSON.

Nothing is loaded from anywhere: the page works from a file, and a content policy forbids the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from latentforest.visible import make_label, make_visible

_FOLDER = Path(__file__).parent

# One subject each, in the order in which they are joined: what is used comes before its use.
_STYLES = ("palette", "page", "words", "picture", "profiles", "ask", "fit", "rows", "print")
PURE_SCRIPTS = (
    "numbers",
    "texts",
    "inference",
    "forest",
    "layout",
    "fold",
    "dag_layout",
    "packed",
)
_SCRIPTS = (
    *PURE_SCRIPTS,
    "dom",
    "state",
    "names",
    "marks",
    "picture",
    "narrow",
    "canvas",
    "find",
    "frame",
    "dag",
    "profiles",
    "slim",
    "ask",
    "known",
    "reach",
    "fit",
    "residuals",
    "certainty",
    "search",
    "alluvial",
    "rows",
    "page",
)

_LONGEST_NAME = 80
# What could end the element that holds the JSON, or a line of a script.
_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def write_page(content: Mapping[str, Any]) -> str:
    """Write the page of a report from its content.

    Parameters
    ----------
    content
        Plain data as `latentforest.report.content.make_content` returns it.

    Returns
    -------
    html
        The whole page: it needs no other file and no network.
    """
    template = _environment().get_template("page.html")
    return template.render(
        content=content,
        data=Markup(_write_json(content)),
        styles=Markup(_read_styles()),
        scripts=Markup(_read_scripts()),
        sections=_list_sections(content),
        heads=_write_heads(content),
        name=_namer(content),
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = lambda text: make_label(str(text))
    environment.filters["visible_text"] = lambda text: make_visible(str(text))
    return environment


def _write_json(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


@cache
def _read_styles() -> str:
    return "\n".join(_read(f"{name}.css") for name in _STYLES)


@cache
def _read_scripts() -> str:
    body = "\n".join(_read(f"{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}\n}})();'


def _read(name: str) -> str:
    return (_FOLDER / "static" / name).read_text(encoding="utf-8")


def _namer(content: Mapping[str, Any]) -> Any:
    variables = content["variables"]

    def name(identity: int) -> str:
        """Name of a variable for people, cut in the middle: 40% head, 60% tail."""
        variable = variables[identity]
        text = make_label(str(variable["label"] or variable["name"]))
        if len(text) <= _LONGEST_NAME:
            return text
        head = int((_LONGEST_NAME - 1) * 0.4)
        return f"{text[:head].rstrip()}…{text[head - _LONGEST_NAME + 1 :].lstrip()}"

    return name


def _list_sections(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Sections that the page has, each with the text of its link."""
    latents = _count(content, latent=True)
    present = {
        "words": "In words",
        "picture": "Picture",
        "profiles": "Profiles" if content["profiles"] else None,
        "ask": "Ask the model" if latents or content["graph"]["edges"] else None,
        "fit": "Fit",
        "rows": "Rows" if content["rows"] else None,
        "reproduce": "Reproduce",
    }
    return [(section, text) for section, text in present.items() if text]


def _count(content: Mapping[str, Any], *, latent: bool) -> int:
    return sum(variable["latent"] is latent for variable in content["variables"])


def _write_heads(content: Mapping[str, Any]) -> dict[str, str]:
    """Headings that say what is found, and lines on how to read what follows."""
    latents, columns = _count(content, latent=True), _count(content, latent=False)
    edges = len(content["graph"]["edges"])
    over = f"{columns:,} {'column' if columns == 1 else 'columns'}"
    if latents:
        picture = f"{latents:,} hidden {'variable' if latents == 1 else 'variables'} over {over}"
    elif edges:
        picture = f"{edges:,} {'link' if edges == 1 else 'links'} between {over}"
    else:
        picture = over
    return {
        "picture": f"The picture: {picture}",
        "how": _explain_picture(content, latents, edges),
        "rows": _count_rows(content),
        "one": _single(content["noun"]),
    }


def _count_rows(content: Mapping[str, Any]) -> str:
    table = content["table"]
    if table is None:
        return "The rows"
    noun = make_label(content["noun"])
    if not table["is_weighted"]:
        return f"The {table['n_rows']:,} {noun}"
    weight = f"{table['total_weight']:,.1f}".removesuffix(".0")
    return f"{weight} {noun} in {table['n_rows']:,} weighted rows"


def _explain_picture(content: Mapping[str, Any], latents: int, edges: int) -> str:
    thick = "A thicker line means that the two know more about each other."
    if not edges and not latents:
        return _explain_independence(content)
    if content["graph"]["kind"] == "dag":
        return (
            "An arrow means that a variable is described by those its arrows come from; it need "
            f"not be a cause. {thick}"
        )
    if not latents:
        return f"Columns that are linked go together. {thick} The tree has no top."
    hang = "Columns that hang on the same hidden variable go together because of it."
    if latents == 1:
        return f"{hang} {thick}"
    return f"{hang} {thick} The tree has no top: the middle is only where it balances."


def _explain_independence(content: Mapping[str, Any]) -> str:
    residuals = content["fit"]["residuals"] if content["fit"] else None
    if residuals and residuals["n_high"]:
        return "This model has no hidden variable: it takes the columns as independent."
    return "No hidden variable is needed: the columns look independent."


def _single(noun: str) -> str:
    """One of them, with its article: a customer, an entry, one of the people."""
    text = make_label(noun)
    if text.endswith("ies") and len(text) > 4:
        text = text[:-3] + "y"
    elif text.endswith("s") and not text.endswith("ss"):
        text = text[:-1]
    else:
        return f"one of the {text}"
    return f"{'an' if text[:1].lower() in 'aeiou' else 'a'} {text}"
