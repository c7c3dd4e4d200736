"""The library's own file, which holds everything that a network has: JSON."""

from __future__ import annotations

import os

from latentforest.formats.content import ModelContent
from latentforest.model.files import document


def read(path: str | os.PathLike[str]) -> ModelContent:
    """Read a JSON file."""
    return ModelContent(document.load(path))


def write(content: ModelContent, path: str | os.PathLike[str]) -> None:
    """Write a JSON file, which appears only when it is complete."""
    document.save(content.network, path)
