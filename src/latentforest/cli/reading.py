"""Options that say how a table is read: listed once, given to many commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

from latentforest.cli.learn_options import Categorical, Continuous, Exclude
from latentforest.cli.options import (
    Catalog,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    Missing,
    Order,
    RecipeFile,
    Sheet,
    ValueLabels,
    Vocabulary,
    Weights,
    read_order,
    split_lists,
    split_names,
)
from latentforest.cli.tables import Reading

_OPTIONS: dict[str, Any] = {
    "weights": Weights,
    "categorical": Categorical,
    "continuous": Continuous,
    "exclude": Exclude,
    "missing": Missing,
    "order": Order,
    "decimal": Decimal,
    "recipe": RecipeFile,
    "delimiter": Delimiter,
    "encoding": Encoding,
    "format": Format,
    "sheet": Sheet,
    "labels": ValueLabels,
    "catalog": Catalog,
    "vocabulary": Vocabulary,
}
_DEFAULTS: dict[str, Any] = {"encoding": "utf-8", "labels": True}
_READERS: dict[str, Callable[[Any], Any]] = {
    "categorical": split_names,
    "continuous": split_names,
    "exclude": split_names,
    "missing": split_lists,
    "order": lambda texts: read_order(texts or ()),
}
ALL = tuple(_OPTIONS)
OF_A_MODEL = tuple(  # what the model and its recipe do not say already
    name for name in ALL if name not in ("categorical", "continuous", "exclude", "order", "recipe")
)
OF_NEW_ROWS = tuple(name for name in OF_A_MODEL if name != "weights")


def takes_reading(*options: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options named; it gets them together, as ``reading``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(*arguments: Any, **named: Any) -> None:
            chosen = {name: named.pop(name) for name in options}
            command(*arguments, **named, reading=_make_reading(chosen))

        parameters = list(_list_parameters(command, options))
        vars(run)["__signature__"] = Signature(parameters)
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _list_parameters(command: Callable[..., None], options: tuple[str, ...]) -> list[Parameter]:
    """Parameters of a command, with the options in the place of ``reading``."""
    hints, found = get_type_hints(command, include_extras=True), list[Parameter]()
    for each in signature(command).parameters.values():
        if each.name != "reading":
            found.append(each.replace(annotation=hints[each.name]))
            continue
        found += [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=_DEFAULTS.get(name),
                annotation=_OPTIONS[name],
            )
            for name in options
        ]
    return found


def _make_reading(chosen: dict[str, Any]) -> Reading:
    return Reading(**{n: _READERS[n](v) if n in _READERS else v for n, v in chosen.items()})
