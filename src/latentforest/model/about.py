"""What a network carries beside its distribution: recipe, labels, record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from latentforest.data.columns.recipe import Recipe
from latentforest.errors import ParameterError
from latentforest.model.files.json_values import Mismatch, describe
from latentforest.model.labels import Labels
from latentforest.model.record import Record

if TYPE_CHECKING:
    from latentforest.data.variable import Variable
    from latentforest.model.structure import Structure


@dataclass(frozen=True)
class About:
    """How tables are read for a network, what people call its variables, how it was learned.

    All networks with the same variables may share one. An edit that changes names, states or
    their order changes it too.
    """

    recipe: Recipe | None = None
    labels: Labels = field(default_factory=Labels)
    record: Record | None = None

    def renamed(self, mapping: Mapping[str, str], structure: Structure) -> About:
        """What stays true when variables get other names.

        A recipe speaks of the columns of files, so it is lost with the name of a column.
        """
        is_latent = all(structure.variable(name).latent for name in mapping)
        return About(
            self.recipe if is_latent else None,
            self.labels.renamed(mapping),
            None if self.record is None else self.record.renamed(mapping),
        )

    def reordered(self, orders: Mapping[str, Sequence[int]], structure: Structure) -> About:
        """What stays true when states of latent variables change places."""
        labels = self.labels
        for name, order in orders.items():
            if name in labels.states:
                labels = labels.reordered(name, structure.states(name), order)
        return replace(self, labels=labels)

    def select(self, variables: Sequence[Variable]) -> About:
        """What stays true when there are fewer states or variables."""
        return replace(self, labels=self.labels.select(variables))

    def to_dict(self) -> dict[str, Any]:
        """Describe what there is in the keys of a network file."""
        found: dict[str, Any] = {}
        if self.recipe is not None:
            found["recipe"] = self.recipe.to_dict()
        if self.labels:
            found["labels"] = self.labels.to_dict()
        if self.record is not None:
            found["record"] = self.record.to_dict()
        return found

    @classmethod
    def from_dict(cls, document: Mapping[str, object]) -> About:
        """Read the keys of a network file that are there."""
        recipe = _read_recipe(document["recipe"]) if "recipe" in document else None
        labels = Labels.from_dict(document["labels"]) if "labels" in document else Labels()
        record = Record.from_dict(document["record"]) if "record" in document else None
        return cls(recipe, labels, record)


NOTHING = About()


def _read_recipe(entry: object) -> Recipe:
    if not isinstance(entry, dict):
        raise Mismatch(f"recipe: expected an object, found {describe(entry)}")
    try:
        return Recipe.from_dict(entry)
    except ParameterError as error:
        raise Mismatch(f"recipe: {error}") from None
