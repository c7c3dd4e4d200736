"""Discovers the hidden structure under a table of data.

Names are loaded when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from latentforest.version import __version__

if TYPE_CHECKING:
    from latentforest import datasets
    from latentforest.data import Dataset, Variable, read
    from latentforest.formats import load, save
    from latentforest.learners import (
        EAST,
        BinaryForest,
        BridgedIslands,
        ChowLiu,
        ChowLiuRecursiveGrouping,
        DoubleHillClimbing,
        GaussianEAST,
        HierarchicalLatentTree,
        HillClimbing,
        IncrementalForest,
        Independence,
        LatentClass,
        Predictor,
        RecursiveGrouping,
    )
    from latentforest.model import Network, Structure
    from latentforest.model.conjugate import Dirichlet, NormalGamma
    from latentforest.model.posterior_network import PosteriorNetwork
    from latentforest.scores import cross_validate, empirical_kl, log_score, tree_distance

_HOMES = {
    "BinaryForest": "latentforest.learners",
    "BridgedIslands": "latentforest.learners",
    "ChowLiu": "latentforest.learners",
    "ChowLiuRecursiveGrouping": "latentforest.learners",
    "Dataset": "latentforest.data",
    "Dirichlet": "latentforest.model.conjugate",
    "DoubleHillClimbing": "latentforest.learners",
    "EAST": "latentforest.learners",
    "GaussianEAST": "latentforest.learners",
    "HierarchicalLatentTree": "latentforest.learners",
    "HillClimbing": "latentforest.learners",
    "IncrementalForest": "latentforest.learners",
    "Independence": "latentforest.learners",
    "IndependentClusterings": "latentforest.learners",
    "LatentClass": "latentforest.learners",
    "Network": "latentforest.model",
    "NormalGamma": "latentforest.model.conjugate",
    "PosteriorNetwork": "latentforest.model.posterior_network",
    "Predictor": "latentforest.learners",
    "RecursiveGrouping": "latentforest.learners",
    "Structure": "latentforest.model",
    "Variable": "latentforest.data",
    "cross_validate": "latentforest.scores",
    "empirical_kl": "latentforest.scores",
    "load": "latentforest.formats",
    "log_score": "latentforest.scores",
    "read": "latentforest.data",
    "save": "latentforest.formats",
    "tree_distance": "latentforest.scores",
}

__all__ = [
    "EAST",
    "BinaryForest",
    "BridgedIslands",
    "ChowLiu",
    "ChowLiuRecursiveGrouping",
    "Dataset",
    "Dirichlet",
    "DoubleHillClimbing",
    "GaussianEAST",
    "HierarchicalLatentTree",
    "HillClimbing",
    "IncrementalForest",
    "Independence",
    "IndependentClusterings",
    "LatentClass",
    "Network",
    "NormalGamma",
    "PosteriorNetwork",
    "Predictor",
    "RecursiveGrouping",
    "Structure",
    "Variable",
    "__version__",
    "cross_validate",
    "datasets",
    "empirical_kl",
    "load",
    "log_score",
    "read",
    "save",
    "tree_distance",
]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return importlib.import_module("latentforest.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module 'latentforest' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
