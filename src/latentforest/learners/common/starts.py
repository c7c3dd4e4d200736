"""What a search for latent trees can begin with: names of learners, learners, networks."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from latentforest.data import Dataset
from latentforest.errors import ModelError, ParameterError
from latentforest.inference.messages import check_latent_forest
from latentforest.learners.common.base import NetworkLearner, Work
from latentforest.learners.common.interruption import fit_start
from latentforest.learners.registry import START_LEARNERS
from latentforest.model import Network
from latentforest.model.about import NOTHING
from latentforest.model.files.document import to_document
from latentforest.search.regularity import find_irregular
from latentforest.search.trees.initial import make_regular, open_pouches

SHARED = ("max_states", "n_jobs")  # settings that a learner by name gets from the search


def check_start(start: Any, table: Dataset) -> None:
    """Refuse what is not a start, and networks that do not fit the table."""
    if isinstance(start, str):
        _find_class(start)
    elif isinstance(start, Network):
        check_columns(start, table)
    elif not isinstance(start, NetworkLearner):
        known = ", ".join(map(repr, START_LEARNERS))
        raise ParameterError(
            f"start must be a Network, a learner or one of {known}, got {type(start).__name__}"
        )


def check_columns(network: Network, table: Dataset) -> None:
    """Refuse an initial model that is not a forest over the columns of the table."""
    if not network.structure.is_forest:
        check_latent_forest(network.structure)
    missing = set(table.names) ^ set(network.observed)
    if missing:
        raise ModelError(f"the initial model and the table differ in {sorted(missing)[:10]}")


def find_start(start: Any, work: Work, settings: dict[str, Any]) -> Network | None:
    """Return the initial model of a search, regular; nothing if it would have no latent variable.

    A network that is a regular latent forest stays as it is.

    Parameters
    ----------
    start
        A network, a learner (fitted or not) or the name of one.
    work
        Has the table.
    settings
        Of the search; a learner by name shares some of them.
    """
    network = work.adopt(start if isinstance(start, Network) else _learn(start, work, settings))
    if network.posterior is not None:
        network = network.with_parameters(network.parameters)  # which has none
    network = open_pouches(network)
    if isinstance(start, Network) and _is_regular(network):
        return network
    check_columns(network, work.table)
    return make_regular(network, work.data, settings.get("max_states"))


def describe_start(start: Any) -> Any:
    """Describe a start so that a checkpoint can be recognized."""
    if isinstance(start, Network):
        return _describe_network(start)
    if isinstance(start, NetworkLearner):
        if hasattr(start, "network_"):
            return _describe_network(start.network_)
        return {"learner": type(start).__name__, "settings": repr(start.get_params())}
    return start


def _is_regular(network: Network) -> bool:
    structure = network.structure
    has_leaves = not any(map(structure.children, structure.observed))
    return (
        has_leaves
        and all(map(structure.neighbours, structure.latents))
        and not find_irregular(structure)
    )


def _learn(start: str | NetworkLearner, work: Work, settings: dict[str, Any]) -> Network:
    if isinstance(start, str):
        learner = _make(start, work, settings)
    elif hasattr(start, "network_"):
        return start.network_
    else:
        learner = clone(start)
    return fit_start(learner, work)


def _make(name: str, work: Work, settings: dict[str, Any]) -> NetworkLearner:
    learner: NetworkLearner = _find_class(name)()
    known = learner.get_params(deep=False)
    given = {key: settings[key] for key in SHARED if key in known and settings.get(key) is not None}
    if "smoothing" in known:
        given["smoothing"] = 0  # a start meets no new rows
    learner.set_params(random_state=work.seed, time_limit=work.seconds_left(), **given)
    return learner


def _find_class(name: str) -> Any:
    if name not in START_LEARNERS:
        known = ", ".join(START_LEARNERS)
        raise ParameterError(f"start: there is no learner {name!r}; known are {known}")
    return START_LEARNERS[name].load()


def _describe_network(network: Network) -> dict[str, Any]:
    """A network without its record, which has times in it."""
    return to_document(network.with_about(NOTHING))
