"""What a model file holds: a network, and where its variables stand in a drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from latentforest.model.network import Network
from latentforest.model.structure import Structure

Positions = Mapping[str, tuple[float, float]]

COLUMN_WIDTH, ROW_HEIGHT = 140.0, 90.0


@dataclass(frozen=True)
class ModelContent:
    """A network and the places of its variables: x to the right, y down, in points.

    Files of other programs may have no places, or only some.
    """

    network: Network
    positions: Positions = field(default_factory=dict)

    def placed(self) -> Positions:
        """Return the places, or simple ones if some are not known: a row for each generation."""
        if set(self.positions) >= set(self.network.names):
            return self.positions
        return place_in_rows(self.network.structure)


def place_in_rows(structure: Structure) -> dict[str, tuple[float, float]]:
    """Place variables below all their parents, side by side in the order of the structure.

    Examples
    --------
    >>> from latentforest import parse_structure, Variable
    >>> columns = [Variable(name, ("0", "1")) for name in "AB"]
    >>> place_in_rows(parse_structure("X[2] -> A, B", columns))
    {'X': (0.0, 0.0), 'A': (0.0, 90.0), 'B': (140.0, 90.0)}
    """
    rows: dict[str, int] = {}
    filled: dict[int, int] = {}
    places = {}
    for name in structure.order:
        row = rows[name] = 1 + max((rows[parent] for parent in structure.parents(name)), default=-1)
        column = filled.get(row, 0)
        filled[row] = column + 1
        places[name] = (column * COLUMN_WIDTH, row * ROW_HEIGHT)
    return places
