"""What is known of hidden variables: how clear rows are, or what follows from some values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from latentforest.errors import ParameterError
from latentforest.model.pictures.answers import WIDTH, draw_answers
from latentforest.plots.canvas import draw_shapes
from latentforest.plots.certainty import draw_certainty
from latentforest.plots.models import find_network


def posterior(
    model: Any,
    data: Any = None,
    *,
    evidence: Mapping[str, Any] | None = None,
    ax: Any = None,
) -> Any:
    """Show how clear the states of rows are, or what follows from values that are known.

    With a table: for each latent variable, the rows by the probability of their likeliest state;
    90% or more is in strong blue. Rows count by their weights.

    With evidence, or with neither: the distributions of the variables given it, the most moved
    first. The upright mark is where a bar was before; orange is what you set.

    Parameters
    ----------
    model
        A fitted learner, a network or the path of a model file.
    data
        A table with the columns of the model.
    evidence
        Values of variables by name, as for `Network.query`.
    ax
        Axes of matplotlib to draw into; by default those of a new figure.

    Returns
    -------
    ax
        The axes.

    Examples
    --------
    >>> import latentforest as lf
    >>> data = lf.datasets.load("hiv-tests")
    >>> model = lf.LatentClass(2, random_state=0).fit(data)
    >>> ax = lf.plots.posterior(model, data)
    >>> ax = lf.plots.posterior(model, evidence={"A": "positive", "B": "negative"})
    """
    network = find_network(model)
    if data is not None and evidence is not None:
        raise ParameterError("data and evidence: got both, expected one of them")
    if data is not None:
        return draw_certainty(network, data, ax)
    known = dict(evidence or {})
    return draw_shapes(partial(draw_answers, network, known), ax, WIDTH)
