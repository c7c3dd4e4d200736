"""A variable: its name, its kind (categorical or continuous), and whether it is latent."""

from __future__ import annotations

from dataclasses import dataclass

from latentforest.errors import DataError


@dataclass(frozen=True, slots=True)
class Variable:
    """One column of a table or one latent variable of a model.

    Parameters
    ----------
    name
        Unique within a table or network.
    states
        Names of the states of a categorical variable, in the order of their codes;
        ``None`` for a continuous variable.
    latent
        True if no column of the data holds this variable.

    Examples
    --------
    >>> Variable("colour", ("red", "green")).n_states
    2
    >>> Variable("height").is_categorical
    False
    """

    name: str
    states: tuple[str, ...] | None = None
    latent: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise DataError(f"a variable's name must be a non-empty string, got {self.name!r}")
        if self.states is None:
            return
        states = tuple(self.states)
        object.__setattr__(self, "states", states)
        if not states:
            raise DataError(f"variable {self.name!r} has no states; at least one is needed")
        if not all(isinstance(state, str) for state in states):
            raise DataError(f"variable {self.name!r}: state names must be strings, got {states!r}")
        if len(set(states)) < len(states):
            raise DataError(f"variable {self.name!r} has repeated state names: {states!r}")

    @classmethod
    def hidden(cls, name: str, n_states: int) -> Variable:
        """Make a latent categorical variable with states named 1, 2, …

        Names count from 1 and codes from 0: code 0 is the state 1, class 1.

        Examples
        --------
        >>> Variable.hidden("class", 3).states
        ('1', '2', '3')
        """
        return cls(name, tuple(str(k + 1) for k in range(n_states)), latent=True)

    @property
    def is_categorical(self) -> bool:
        """True for a categorical variable, false for a continuous one."""
        return self.states is not None

    @property
    def n_states(self) -> int:
        """Number of states of a categorical variable."""
        if self.states is None:
            raise DataError(f"variable {self.name!r} is continuous and has no states")
        return len(self.states)
