"""A network in a notebook: values that a person sets, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from latentforest.data.results.labelled import LabelledArray
from latentforest.data.results.table import load_package
from latentforest.data.results.table_text import escape_html
from latentforest.errors import LatentForestError
from latentforest.model.pictures.answers import draw_answers
from latentforest.model.pictures.names import name_fully, name_states
from latentforest.model.pictures.shapes import LONGEST, estimate_width, shorten
from latentforest.model.pictures.svg import write_svg

if TYPE_CHECKING:
    from latentforest.model.network import Network

WIDTH = 960.0
MENU = 320.0  # width of a text in a menu
NOTHING = "Choose a variable…"


class Explorer:
    """A network with values that are set, one after the other.

    In a notebook with ipywidgets it shows itself: a menu of variables, one of values (or a field
    for a number), what is set with a button to take it away, and bars of all other variables, the
    most moved first. Its methods do the same without a notebook.

    Parameters
    ----------
    network
        Any network.

    Examples
    --------
    >>> from latentforest import LatentClass, datasets
    >>> explorer = LatentClass(2, random_state=0).fit(datasets.load("hiv-tests")).network_.explore()
    >>> explorer.set("A", "negative")
    >>> explorer.evidence
    {'A': 'negative'}
    >>> round(float(explorer.query("class").max()), 2)
    1.0
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self._evidence: dict[str, Any] = {}

    @property
    def evidence(self) -> dict[str, Any]:
        """What is set."""
        return dict(self._evidence)

    def set(self, name: str, value: Any) -> None:
        """Set a variable. What is impossible together with the rest is refused, and not set."""
        tried = {**self._evidence, name: value}
        if self.network.log_probability(tried) == float("-inf"):
            listed = ", ".join(f"{each} = {tried[each]}" for each in tried)
            raise LatentForestError(
                f"{name} = {value} was not set: the network gives {listed} probability zero"
            )
        self._evidence = tried

    def clear(self, name: str | None = None) -> None:
        """Take back a value, or all."""
        if name is None:
            self._evidence = {}
        else:
            self._evidence.pop(name, None)

    def query(self, targets: str | list[str]) -> LabelledArray:
        """The distribution of variables given what is set, as `Network.query` gives it."""
        return self.network.query(targets, self._evidence)

    def to_html(self) -> str:
        """What follows from what is set, as a picture."""
        picture = draw_answers(self.network, self._evidence, estimate_width, WIDTH)
        return write_svg(picture)

    def widget(self) -> Any:
        """The widget of ipywidgets that shows all this."""
        return _Panel(self).box

    def _ipython_display_(self) -> None:
        load_package("IPython.display", "notebook").display(self.widget())


class _Panel:
    """Menus, buttons and the picture; what is done with them changes the explorer."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.widgets = load_package("ipywidgets", "notebook")
        self.texts = name_fully(explorer.network)
        self.variable = self.widgets.Dropdown(description="Variable")
        self.value = self.widgets.Dropdown(description="Value")
        self.number = self.widgets.FloatText(description="Value")
        self.button = self.widgets.Button(description="Set", disabled=True)
        self.message, self.picture = self.widgets.HTML(), self.widgets.HTML()
        self.known = self.widgets.HBox()
        self.menus = self.widgets.HBox([self.variable, self.value, self.button])
        self.box = self.widgets.VBox([self.menus, self.known, self.message, self.picture])
        self.variable.observe(self._choose, names="value")
        self.button.on_click(self._set)
        self._refresh()

    def _choose(self, change: Any) -> None:
        """Offer the values of the variable that was chosen."""
        name = self.variable.value
        self.button.disabled = name is None
        if name is None:
            return
        structure, is_number = self.explorer.network.structure, False
        if name in structure.continuous:
            self.number.value, is_number = self.explorer.network.mixture(name).mean, True
        else:
            texts = [_cut(text) for text in name_states(self.explorer.network, name)]
            self.value.options = _tell_apart(texts, structure.states(name))
        field = self.number if is_number else self.value
        self.menus.children = (self.variable, field, self.button)

    def _set(self, _: Any) -> None:
        name = self.variable.value
        is_number = name in self.explorer.network.structure.continuous
        self._try(lambda: self.explorer.set(name, (self.number if is_number else self.value).value))

    def _clear(self, name: str | None) -> None:
        self._try(lambda: self.explorer.clear(name))

    def _try(self, act: Any) -> None:
        """Do something; say why if it is refused."""
        self.message.value = ""
        try:
            act()
        except LatentForestError as error:
            self.message.value = f"<b>{escape_html(str(error))}</b>"
        self._refresh()

    def _refresh(self) -> None:
        """Show what is set, what may be set, and what follows."""
        evidence, network = self.explorer.evidence, self.explorer.network
        free = [name for name in network.names if name not in evidence]
        texts = [_cut(self.texts[name]) for name in free]
        self.variable.options = [(NOTHING, None), *_tell_apart(texts, free)]
        self.variable.value = None
        buttons = [self._make_button(name, value) for name, value in evidence.items()]
        self.known.children = tuple(buttons)
        self.picture.value = self.explorer.to_html()

    def _make_button(self, name: str, value: Any) -> Any:
        text = _cut(f"{self.texts[name]} = {self.explorer.network.labels.state(name, str(value))}")
        layout = self.widgets.Layout(width="auto")
        button = self.widgets.Button(description=text, icon="times", layout=layout)
        button.on_click(lambda _: self._clear(name))
        return button


def _cut(text: str) -> str:
    return shorten(text[:LONGEST], MENU, estimate_width)


def _tell_apart(texts: list[str], values: Any) -> list[tuple[str, str]]:
    """Pairs for a menu; equal texts get a number, for a menu finds values by texts."""
    seen: dict[str, int] = {}
    pairs = []
    for text, value in zip(texts, values, strict=True):
        seen[text] = seen.get(text, 0) + 1
        pairs.append((text if seen[text] == 1 else f"{text} ({seen[text]})", value))
    return pairs
