"""Pictures in files: the same bytes for the same picture, whole or not at all."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from latentforest.errors import ParameterError
from latentforest.files import write_atomically
from latentforest.plots.canvas import load_matplotlib

FILES = (".svg", ".png", ".pdf")
DPI = 192  # of a PNG file
_UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}


def save_picture(ax: Any, path: str | os.PathLike[str]) -> None:
    """Write the figure of axes to a file, in the format that the end of its name says."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in _UNDATED:
        raise ParameterError(f"{path}: the name of a picture must end in {', '.join(FILES)}")
    matplotlib = load_matplotlib()
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "latentforest", "text.usetex": False}):
        ax.figure.savefig(buffer, format=suffix, dpi=DPI, metadata=_UNDATED[suffix])
    write_atomically(path, buffer.getvalue())
