"""Recipes: how the columns of a table are to be understood, for many runs and new tables."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from latentforest.data.columns.missing_texts import Missing, MissingTexts, check_missing, list_texts
from latentforest.data.columns.raw_column import Kind
from latentforest.data.columns.state_names import DEFAULT_MISSING, name_value
from latentforest.data.encode import Encoding, Kinds, Weights
from latentforest.errors import FileFormatError, ParameterError

_KINDS = ("categorical", "continuous")
_AT_TOP = ("missing", "usual_missing", "decimal", "weight", "id", "drop", "columns")
_OF_COLUMNS = ("kind", "states", "labels", "missing")


@dataclass(frozen=True)
class Recipe:
    """How the columns of a table are to be understood.

    Parameters
    ----------
    kinds
        ``"categorical"`` or ``"continuous"`` by column.
    states
        Ordered states by column. Another value in the column is then an error.
    labels
        Labels for values by column, such as ``{"sex": {"1": "male", "2": "female"}}``. States are
        in the order of the labels, unless ``states`` has another one.
    missing
        Texts that mean "no value" in every column, besides the usual ones.
    missing_by_column
        Further such texts by column. An empty list says that there are none.
    usual_missing
        False if the usual texts (empty, ``?``, ``NA`` and so on) do not mean "no value".
    decimal
        The decimal mark, ``"."`` or ``","``, where both are possible.
    drop, id
        Columns that are not modelled: of no use, or telling whose row it is.
    weight
        The column that says how often each row counts.

    Examples
    --------
    >>> from latentforest import Dataset
    >>> recipe = Recipe(labels={"sex": {"1": "male", "2": "female"}}, missing=["-9"], id=["case"])
    >>> data = Dataset.from_table({"case": [7, 8, 9], "sex": [2, 1, -9]}, recipe=recipe)
    >>> data.variables[0].states, data.column("sex").tolist()
    (('male', 'female'), [1, 0, -1])
    """

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    states: Mapping[str, Sequence[str]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    missing: Sequence[str] = ()
    missing_by_column: Mapping[str, Sequence[str]] = field(default_factory=dict)
    usual_missing: bool = True
    decimal: str | None = None
    drop: Sequence[str] = ()
    id: Sequence[str] = ()
    weight: str | None = None

    def __post_init__(self) -> None:
        for name, kind in self.kinds.items():
            if kind not in _KINDS:
                raise ParameterError(
                    f"kind of column {name!r}: got {kind!r}, expected 'categorical' or 'continuous'"
                )
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal: got {self.decimal!r}, expected '.' or ','")
        settle = object.__setattr__
        settle(
            self, "states", {n: _name_all(v, f"states of {n!r}") for n, v in self.states.items()}
        )
        settle(self, "labels", {n: _name_labels(n, v) for n, v in self.labels.items()})
        settle(self, "missing", list_texts(self.missing, self.missing))
        by_column = {n: list_texts(v, v) for n, v in self.missing_by_column.items()}
        settle(self, "missing_by_column", by_column)
        settle(self, "drop", _name_all(self.drop, "drop"))
        settle(self, "id", _name_all(self.id, "id"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recipe:
        """Read a recipe from a TOML file, such as ``latentforest inspect --write-recipe`` writes.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "columns.toml"
        >>> Recipe(weight="wt", kinds={"age": "continuous"}).save(path)
        >>> Recipe.load(path).weight
        'wt'
        """
        import tomllib

        try:
            document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
            return cls.from_dict(document)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, ParameterError) as error:
            raise FileFormatError(f"recipe {os.fspath(path)}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recipe to a TOML file."""
        from latentforest.data.columns.recipe_file import write_recipe

        write_recipe(self, path)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Recipe:
        """Make a recipe of what a TOML file or a model file has."""
        _check_keys(document, _AT_TOP, "recipe")
        entries = _get(document, "columns", dict, {})
        for name, entry in entries.items():
            if not isinstance(entry, dict):
                raise ParameterError(f"columns.{name}: expected a table, got {entry!r}")
            _check_keys(entry, _OF_COLUMNS, f"columns.{name}")

        def collect(key: str, kind: type) -> dict[str, Any]:
            return {
                name: _get(entry, key, kind, None)
                for name, entry in entries.items()
                if key in entry
            }

        return cls(
            kinds=collect("kind", str),
            states=collect("states", list),
            labels=collect("labels", dict),
            missing=_get(document, "missing", list, ()),
            missing_by_column=collect("missing", list),
            usual_missing=_get(document, "usual_missing", bool, True),
            decimal=_get(document, "decimal", str, None),
            drop=_get(document, "drop", list, ()),
            id=_get(document, "id", list, ()),
            weight=_get(document, "weight", str, None),
        )

    def to_dict(self) -> dict[str, Any]:
        """Describe the recipe by lists, dictionaries, strings and booleans only."""
        columns: dict[str, dict[str, Any]] = {}
        parts: dict[str, Mapping[str, Any]] = {
            "kind": self.kinds,
            "states": {name: list(states) for name, states in self.states.items()},
            "labels": {name: dict(labels) for name, labels in self.labels.items()},
            "missing": {name: list(texts) for name, texts in self.missing_by_column.items()},
        }
        for key, values in parts.items():
            for name, value in values.items():
                columns.setdefault(name, {})[key] = value
        everything: dict[str, Any] = {
            "missing": list(self.missing),
            "decimal": self.decimal,
            "weight": self.weight,
            "id": list(self.id),
            "drop": list(self.drop),
            "columns": columns,
        }
        usual = {} if self.usual_missing else {"usual_missing": False}
        return {**usual, **{key: value for key, value in everything.items() if value}}

    def texts(self, default: Collection[str] = DEFAULT_MISSING) -> MissingTexts:
        """Texts that mean "no value", by column."""
        usual = default if self.usual_missing else ()
        by_column = {name: tuple(texts) for name, texts in self.missing_by_column.items()}
        return MissingTexts((*usual, *self.missing), by_column)

    def with_missing(self, missing: Missing | None) -> Recipe:
        """Replace the texts that mean "no value" by what a caller gave."""
        if missing is None:
            return self
        given = check_missing(missing)
        has_usual = set(DEFAULT_MISSING) <= set(given)
        return replace(
            self,
            missing=[text for text in given if not (has_usual and text in DEFAULT_MISSING)],
            usual_missing=has_usual,
            missing_by_column={**self.missing_by_column, **given.by_column},
        )


def read_recipe(recipe: Recipe | str | os.PathLike[str] | None) -> Recipe:
    """A recipe, or the one in a file; an empty one if there is none."""
    if recipe is None:
        return Recipe()
    if isinstance(recipe, str | os.PathLike):
        return Recipe.load(recipe)
    if not isinstance(recipe, Recipe):
        kind = type(recipe).__name__
        raise ParameterError(f"recipe: got a {kind}, expected a Recipe or a TOML file")
    return recipe


def plan_encoding(
    recipe: Recipe,
    names: Sequence[str],
    encoding: Encoding,
    weights: Weights | None,
    missing: Missing | None,
) -> tuple[Encoding, Weights | None]:
    """Join a recipe with what the caller of a function asked for, which wins.

    ``encoding`` has what the caller asked for; its ``missing`` are the usual texts of the format.
    """
    encoding.check(names)
    kinds = encoding.kinds
    by_name = dict(kinds) if isinstance(kinds, Mapping) else {}
    weight = weights if isinstance(weights, str) else None
    joint = replace(
        recipe.with_missing(missing),
        kinds={**recipe.kinds, **by_name},
        states={**recipe.states, **{n: _list_states(s) for n, s in encoding.states.items()}},
        decimal=encoding.decimal or recipe.decimal,
        drop=tuple(dict.fromkeys((*recipe.drop, *encoding.exclude))),
        weight=weight if weights is not None else recipe.weight,
    )
    aside = [name for name in (*recipe.drop, *recipe.id) if name in names]
    joint_kinds: Kinds | None = joint.kinds or None
    if isinstance(kinds, str):
        joint_kinds = dict.fromkeys(names, kinds) if recipe.kinds else kinds
    planned = replace(
        encoding,
        kinds=joint_kinds,
        states={**recipe.states, **encoding.states},
        missing=joint.texts(encoding.missing),
        exclude=(*encoding.exclude, *aside),
        decimal=joint.decimal,
        labels=recipe.labels,
        recipe=None if joint == Recipe() else joint,
    )
    return planned, recipe.weight if weights is None else weights


def _list_states(states: Any) -> Sequence[str]:
    """Names of states; what is no list is refused where it is used."""
    if isinstance(states, str) or not hasattr(states, "__iter__"):
        return ()
    return [name_value(state) for state in states]


def _name_all(values: Any, what: str) -> tuple[str, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Collection):
        raise ParameterError(f"{what}: got {values!r}, expected a list")
    return tuple(name_value(value) for value in values)


def _name_labels(name: str, labels: Any) -> dict[str, str]:
    if not isinstance(labels, Mapping) or not labels:
        raise ParameterError(
            f"labels of {name!r}: got {labels!r}, expected a mapping from values to labels"
        )
    return {name_value(value): name_value(label) for value, label in labels.items()}


def _check_keys(document: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in document:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected {', '.join(known)}"
            raise ParameterError(f"{where}: there is no entry {key!r}; {hint}")


def _get(entry: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    value = entry.get(key, default)
    if key in entry and not isinstance(value, kind):
        names = {str: "a text", list: "a list", dict: "a table", bool: "true or false"}
        raise ParameterError(f"{key}: got {value!r}, expected {names[kind]}")
    return value
