"""The console that tables and trees are printed on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from latentforest.visible import make_visible


class PipedConsole(Console):
    """A console that shows control characters, and says when the reader of its output went away."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Make text of a string, before it is measured."""
        return super().render_str(make_visible(text), **options)

    def render(self, *arguments: Any, **options: Any) -> Iterable[Segment]:
        """Render anything; what came as text of its own is shown, too."""
        for text, style, control in super().render(*arguments, **options):
            yield Segment(text if control else make_visible(text), style, control)

    def on_broken_pipe(self) -> None:
        """Raise the error again, where rich would end the program with exit code 1."""
        raise
