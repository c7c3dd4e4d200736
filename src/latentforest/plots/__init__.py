"""Pictures of models, drawn with matplotlib (``pip install 'latentforest[plots]'``).

One function for each picture. All take a fitted learner, a network or a model file, draw into
``ax`` if it is given, and return the axes.
"""

from latentforest.lazy import import_lazily

_HOMES = {
    "alluvial": "latentforest.plots.alluvial_ribbons",
    "compare": "latentforest.plots.model_dots",
    "elbow": "latentforest.plots.elbow_curve",
    "history": "latentforest.plots.search_steps",
    "posterior": "latentforest.plots.posterior_bars",
    "profile": "latentforest.plots.profile_table",
    "residuals": "latentforest.plots.residual_triangle",
    "tree": "latentforest.plots.network_tree",
}

__getattr__, __dir__, __all__ = import_lazily("latentforest.plots", _HOMES)
