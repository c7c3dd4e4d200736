"""One file per learning algorithm; ``registry`` lists them. Each is loaded when first used."""

from latentforest.lazy import import_lazily
from latentforest.learners.registry import LEARNERS

HOMES = {entry.name: entry.home for entry in LEARNERS} | {
    "ConfirmatoryModel": "latentforest.learners.confirmatory",
    "ModelAverage": "latentforest.learners.model_average",
    "Predictor": "latentforest.learners.predictor",
    "fit": "latentforest.learners.confirmatory",
}

__getattr__, __dir__, __all__ = import_lazily("latentforest.learners", HOMES)
