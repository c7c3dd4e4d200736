"""Networks as objects of other libraries, and back: pgmpy, pyAgrum, networkx."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from latentforest.data.lookup import list_briefly
from latentforest.data.variable import Variable
from latentforest.errors import DataError, MissingExtraError, ModelError
from latentforest.model.network import Network
from latentforest.visible import make_encodable


def _load(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingExtraError(
            f"{package} is not installed: pip install 'latentforest[interchange]'"
        ) from error


def _refuse_continuous(network: Network, library: str) -> None:
    if network.structure.continuous:
        raise ModelError(
            f"{library} networks hold categorical variables only, and these are continuous: "
            f"{list_briefly(network.structure.continuous)}"
        )


def to_pgmpy(network: Network) -> Any:
    """Return the network as pgmpy's ``DiscreteBayesianNetwork``, with its latent variables."""
    _refuse_continuous(network, "pgmpy's discrete")
    models, factors = _load("pgmpy.models"), _load("pgmpy.factors.discrete")
    structure = network.structure
    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.names)
    model.latents = set(network.latents)
    model.add_edges_from((p, name) for name in network.names for p in structure.parents(name))
    for name in network.names:
        parents = structure.parents(name)
        table = structure.table_view(network.parameters, name)
        model.add_cpds(
            factors.TabularCPD(
                name,
                table.shape[-1],
                table.reshape(-1, table.shape[-1]).T,
                list(parents) or None,
                list(table.shape[:-1]) or None,
                state_names={each: list(structure.states(each)) for each in (*parents, name)},
            )
        )
    return model


def from_pgmpy(model: Any) -> Network:
    """Make a network of pgmpy's ``DiscreteBayesianNetwork``.

    Names and states become texts.

    Parameters
    ----------
    model
        With a table for each variable.

    Examples
    --------
    >>> from latentforest import datasets, LatentClass
    >>> network = LatentClass(2, random_state=0).fit(datasets.load("hiv-tests")).network_
    >>> from_pgmpy(network.to_pgmpy()) == network  # doctest: +SKIP
    True
    """
    nodes = [str(node) for node in model.nodes()]
    latents = {str(name) for name in getattr(model, "latents", ())}
    tables, parents, states = {}, {}, {}
    for cpd in model.get_cpds():
        name, *given = map(str, cpd.variables)
        labels = {str(key): value for key, value in cpd.state_names.items()}
        states[name], parents[name] = [str(state) for state in labels[name]], given
        tables[name] = np.moveaxis(np.asarray(cpd.values), 0, -1)
    lacking = [name for name in nodes if name not in tables]
    if lacking:
        raise ModelError(f"the model has no table for {list_briefly(lacking)}")
    return _build([(name, states[name], name in latents) for name in nodes], parents, tables)


def to_pyagrum(network: Network) -> Any:
    """Return the network as pyAgrum's ``BayesNet``, which does not know latent variables."""
    _refuse_continuous(network, "pyAgrum's")
    for variable in network.variables:
        for text in (variable.name, *(variable.states or ())):
            if make_encodable(text) != text or "\0" in text:
                raise ModelError(f"pyAgrum cannot hold the text {text!r} of {variable.name!r}")
    gum = _load("pyagrum")
    structure, model = network.structure, gum.BayesNet()
    for name in network.names:
        model.add(gum.LabelizedVariable(name, name, list(structure.states(name))))
    for name in network.names:
        for parent in structure.parents(name):
            model.addArc(parent, name)
        table, cpt = structure.table_view(network.parameters, name), model.cpt(name)
        axes = [*structure.parents(name), name]
        order = [axes.index(each) for each in reversed(cpt.names)]
        cpt[:] = np.ascontiguousarray(table.transpose(order))
    return model


def from_pyagrum(model: Any, latents: Sequence[str] = ()) -> Network:
    """Make a network of pyAgrum's ``BayesNet``.

    Parameters
    ----------
    model
        With variables of finitely many states.
    latents
        Variables that are latent, which pyAgrum does not know.

    Examples
    --------
    >>> import pyagrum
    >>> rain = from_pyagrum(pyagrum.fastBN("rain{no|yes}->wet{no|yes}"))
    >>> rain.structure.parents("wet")
    ('rain',)
    """
    variables, parents, tables = [], {}, {}
    for node in model.nodes():
        variable = model.variable(node)
        name, cpt = variable.name(), model.cpt(node)
        variables.append((name, list(variable.labels()), name in latents))
        parents[name] = [each for each in cpt.names if each != name]
        axes = [*parents[name], name]
        given = list(reversed(cpt.names))
        tables[name] = cpt.toarray().transpose([given.index(each) for each in axes])
    return _build(variables, parents, tables)


def to_networkx(network: Network) -> Any:
    """Return the graph as networkx's ``DiGraph``.

    Nodes have the attributes ``kind``, ``latent``, ``states`` and ``table`` (`Network.cpd`, as
    nested lists), the graph has ``pouches``; `from_networkx` makes the network of it again.
    """
    graph = _load("networkx").DiGraph()
    structure = network.structure
    graph.graph["pouches"] = [list(pouch) for pouch in structure.pouches]
    for variable in network.variables:
        graph.add_node(
            variable.name,
            kind="categorical" if variable.is_categorical else "continuous",
            latent=variable.latent,
            states=None if variable.states is None else list(variable.states),
            table=structure.table_view(network.parameters, variable.name).tolist(),
        )
    for name in network.names:
        graph.add_edges_from((parent, name) for parent in structure.parents(name))
    for name in network.names:
        graph.nodes[name]["parents"] = list(structure.parents(name))  # in the order of the table
    return graph


def from_networkx(graph: Any) -> Network:
    """Make a network of a ``DiGraph`` whose nodes have the attributes of `Network.to_networkx`.

    Parameters
    ----------
    graph
        ``states`` are left out for continuous variables, ``latent`` is false if it is left out.
        Without the attribute ``parents`` they are in the order of the graph.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.DiGraph([("rain", "wet")])
    >>> graph.nodes["rain"].update(states=["no", "yes"], table=[0.75, 0.25])
    >>> graph.nodes["wet"].update(states=["no", "yes"], table=[[1, 0], [0.5, 0.5]])
    >>> from_networkx(graph).marginal("wet").round(3).tolist()
    [0.875, 0.125]
    """
    variables, parents, tables = [], {}, {}
    for node, given in graph.nodes(data=True):
        name = str(node)
        if "table" not in given:
            raise ModelError(f"node {name!r} has no attribute 'table', so its numbers are unknown")
        variables.append((name, given.get("states"), bool(given.get("latent", False))))
        arcs = [str(each) for each in graph.predecessors(node)]
        parents[name] = [str(each) for each in given.get("parents", arcs)]
        if sorted(parents[name]) != sorted(arcs):
            raise ModelError(f"node {name!r}: the attribute 'parents' does not fit its arcs")
        tables[name] = np.asarray(given["table"], dtype=np.float64)
    return _build(variables, parents, tables, graph.graph.get("pouches", ()))


def _build(
    variables: Sequence[tuple[str, Sequence[object] | None, bool]],
    parents: dict[str, list[str]],
    tables: dict[str, Any],
    pouches: Sequence[Sequence[str]] = (),
) -> Network:
    try:
        made = [
            Variable(name, None if states is None else tuple(map(str, states)), latent)
            for name, states, latent in variables
        ]
    except DataError as error:
        raise ModelError(str(error)) from None
    for name, table in tables.items():
        if not math.isfinite(float(np.sum(table))):
            raise ModelError(f"the table of {name!r} holds numbers that are not finite")
    return Network.from_tables(made, parents, tables, pouches)
