"""Discovers the hidden structure under a table of data.

Names are loaded when they are first used, so that importing the package is quick. Type checkers
read them in ``__init__.pyi``, which ``make lists`` writes.
"""

from latentforest.lazy import import_lazily
from latentforest.learners import HOMES as _LEARNERS

_HOMES = {
    "Code": "latentforest.data.values",
    "Dataset": "latentforest.data",
    "Dirichlet": "latentforest.model.conjugate",
    "Labels": "latentforest.model.labels",
    "Network": "latentforest.model",
    "NormalGamma": "latentforest.model.conjugate",
    "PosteriorNetwork": "latentforest.model.posterior_network",
    "Recipe": "latentforest.data.columns.recipe",
    "Record": "latentforest.model.record",
    "Structure": "latentforest.model",
    "TreeAverage": "latentforest.search.averaging.trees",
    "Variable": "latentforest.data",
    "__version__": "latentforest.version",
    "average_networks": "latentforest.search.averaging.networks",
    "benchmark": "latentforest.benchmarking.run",
    "compare": "latentforest.scores.model_comparison",
    "compute_bivariate_residuals": "latentforest.scores.residuals",
    "compute_cell_residuals": "latentforest.scores.residuals",
    "cross_validate": "latentforest.scores",
    "datasets": "latentforest.datasets",
    "dominates": "latentforest.search.glc.dominance",
    "empirical_kl": "latentforest.scores",
    "from_networkx": "latentforest.formats.objects",
    "from_pgmpy": "latentforest.formats.objects",
    "from_pyagrum": "latentforest.formats.objects",
    "goodness_of_fit": "latentforest.scores",
    "inspect": "latentforest.data.columns.inspection",
    "is_regular": "latentforest.search.glc.regularization",
    "latent_information": "latentforest.inference.association.column_information",
    "load": "latentforest.formats",
    "log_score": "latentforest.scores",
    "marginal_likelihood": "latentforest.scores",
    "marginally_equivalent": "latentforest.search.glc.dominance",
    "parse_structure": "latentforest.model.notation",
    "plots": "latentforest.plots",
    "read": "latentforest.data",
    "read_sql": "latentforest.data",
    "regularize": "latentforest.search.glc.regularization",
    "report": "latentforest.report.document",
    "save": "latentforest.formats",
    "suggest_names": "latentforest.model.showing.suggestions",
    "tree_distance": "latentforest.scores",
    "write_structure": "latentforest.model.notation",
    **_LEARNERS,
}

__getattr__, __dir__, __all__ = import_lazily("latentforest", _HOMES)
