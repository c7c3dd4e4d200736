"""The picture of a network: a tree or forest around its centre, any other network in layers."""

from __future__ import annotations

from typing import Any

from latentforest.model.pictures.tree import WIDTH, draw_network
from latentforest.plots.canvas import draw_shapes
from latentforest.plots.models import find_network


def tree(model: Any, *, ax: Any = None) -> Any:
    """Draw a network: its hidden variables with the sizes of their states, its columns, its edges.

    The width of an edge is the mutual information of its ends. A tree has no top: it hangs on the
    variable from which the columns are nearest. A network in which a variable has several parents
    is drawn in layers, with arrows. Above 60 columns branches are folded, those with the most
    information stay open; of more than 100 variables in layers, those with the strongest arcs are
    drawn, and the picture says how many are not.

    Parameters
    ----------
    model
        A fitted learner, a network or the path of a model file.
    ax
        Axes of matplotlib to draw into; by default those of a new figure, as large as needed.

    Returns
    -------
    ax
        The axes.

    Examples
    --------
    >>> import latentforest as lf
    >>> model = lf.LatentClass(2, random_state=0).fit(lf.datasets.load("hiv-tests"))
    >>> ax = lf.plots.tree(model)
    >>> ax.figure.savefig("tree.svg")  # doctest: +SKIP
    """
    network = find_network(model)
    return draw_shapes(lambda measure, width: draw_network(network, measure, width), ax, WIDTH)
