"""The part of a network that is not its distribution: recipe, labels and record."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from latentforest.model.about import About
from latentforest.model.labels import Labels

if TYPE_CHECKING:
    from latentforest.data.columns.recipe import Recipe
    from latentforest.data.variable import Variable
    from latentforest.model.record import Record

Changed = TypeVar("Changed", bound="Described")


class Described:
    """Something immutable over variables that carries an `About`."""

    __slots__ = ("_about",)

    _about: About

    @property
    @abstractmethod
    def variables(self) -> tuple[Variable, ...]:
        """The variables that labels may be about."""

    @property
    def about(self) -> About:
        """Recipe, labels and record in one."""
        return self._about

    def with_about(self, about: About) -> Self:
        """Return the same network with another recipe, other labels and another record."""
        made: Any = self.__reduce__()
        network: Self = made[0](*made[1])
        network._about = about
        return network

    def _tell(self, network: Changed, about: About | None = None) -> Changed:
        """Let a network that was made of this one know what this one knows."""
        network._about = self._about if about is None else about
        return network

    @property
    def recipe(self) -> Recipe | None:
        """How the table was read that the network was learned from, if not in the usual way."""
        return self._about.recipe

    def with_recipe(self, recipe: Recipe | None) -> Self:
        """Return the same network with a note of how tables are to be read for it."""
        return self.with_about(replace(self._about, recipe=recipe))

    @property
    def labels(self) -> Labels:
        """Texts for people beside the names of variables and states."""
        return self._about.labels

    def with_labels(self, labels: Labels) -> Self:
        """Return the same network with other texts for its variables and states.

        Parameters
        ----------
        labels
            They take the place of those before; ``network.labels.merged(labels)`` has both.

        Examples
        --------
        >>> from latentforest import Network, Variable
        >>> coin = Variable("coin", ("heads", "tails"))
        >>> network = Network.from_tables([coin], {}, {"coin": [0.5, 0.5]})
        >>> network = network.with_labels(Labels({"coin": "an old penny"}))
        >>> network.labels.variable("coin"), network.names
        ('an old penny', ('coin',))
        """
        labels.check(self.variables)
        return self.with_about(replace(self._about, labels=labels))

    @property
    def record(self) -> Record | None:
        """How the network was learned, if that is known."""
        return self._about.record

    def with_record(self, record: Record | None) -> Self:
        """Return the same network with another record of how it was learned."""
        return self.with_about(replace(self._about, record=record))

    def __setstate__(self, about: About) -> None:
        self._about = about
