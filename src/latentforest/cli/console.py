"""The console that tables and trees are printed on."""

from __future__ import annotations

from rich.console import Console


class PipedConsole(Console):
    """A console that says when the reader of its output went away."""

    def on_broken_pipe(self) -> None:
        """Raise the error again, where rich would end the program with exit code 1."""
        raise
