"""Errors and warnings of the library.

LatentForestError
├── DataError            a table, column, value or weight that cannot be used
├── ModelError           a network that is not valid, or a question it cannot answer
├── FileFormatError      a file that is damaged or of another format
├── ParameterError       a setting of a learner or function that makes no sense
├── LockedError          a file that another process works on
└── MissingExtraError    an optional package that is needed is not installed

LatentForestWarning
├── UnseenStatesWarning  states at prediction time that training never saw
├── DataWarning          a column or row that is kept but carries no information
├── ReadingWarning       a table file that leaves something open, and how it was read
├── FileFormatWarning    a model file that does not hold exactly what the network has
├── CheckpointWarning    a checkpoint that could not be written; the search goes on
├── InterruptedWarning   a fit that was interrupted before it had found a model
├── DimensionWarning     a network with more parameters than the table of its columns determines
└── VarianceWarning      a variance that would fall below its bound, and is kept there
"""

from latentforest.visible import make_visible


class LatentForestError(Exception):
    """Base of every error that the library raises on purpose."""

    def __str__(self) -> str:
        return make_visible(super().__str__())


class DataError(LatentForestError, ValueError):
    """A table, column, value or weight cannot be used."""


class ModelError(LatentForestError, ValueError):
    """A network is not valid, or cannot answer the question asked."""


class FileFormatError(LatentForestError, ValueError):
    """A file is damaged or is not of the expected format."""


class ParameterError(LatentForestError, ValueError):
    """A setting of a learner or function makes no sense."""


class LockedError(LatentForestError, OSError):
    """Another process works on a file."""


class MissingExtraError(LatentForestError, ImportError):
    """An optional package that this call needs is not installed."""


class LatentForestWarning(UserWarning):
    """Base of the library's warnings."""

    def __str__(self) -> str:
        return make_visible(super().__str__())


class UnseenStatesWarning(LatentForestWarning):
    """A table holds states that training never saw; they count as missing."""


class DataWarning(LatentForestWarning):
    """A column or row is kept although it carries no information."""


class UnobservedStatesWarning(DataWarning):
    """States were declared that no row has; they do not count as parameters."""


class ReadingWarning(LatentForestWarning):
    """A table file leaves something open; the message says how it was read."""


class FileFormatWarning(LatentForestWarning):
    """A model file does not hold exactly what the network has."""


class CheckpointWarning(LatentForestWarning):
    """A checkpoint could not be written; the search goes on without it."""


class InterruptedWarning(LatentForestWarning):
    """A fit was interrupted before it had found a model; a very simple one takes its place."""


class DimensionWarning(LatentForestWarning):
    """A network has more parameters than the table of its columns can determine."""


class VarianceWarning(LatentForestWarning):
    """A variance is at its lower bound: some rows have nearly the same value in a column."""
