"""Graphs for other programs: DOT (Graphviz), GraphML (yEd, Gephi, Cytoscape, igraph), Mermaid.

They hold the variables and arcs, no parameters, and so are written only.
"""

from __future__ import annotations

from latentforest.data.variable import Variable
from latentforest.formats.identifiers import to_xml_text
from latentforest.formats.xml_file import escape, quoteattr
from latentforest.model.network import Network

_KEYS = {"label": "string", "kind": "string", "latent": "boolean", "states": "string"}


def write_dot(network: Network) -> str:
    """Return the graph in the DOT language."""
    return network.to_dot()


def write_graphml(network: Network) -> str:
    """Return the graph as GraphML, with the states of each variable."""
    keys = "".join(
        f'  <key id="{key}" for="node" attr.name="{key}" attr.type="{kind}"/>\n'
        for key, kind in _KEYS.items()
    )
    number = {name: i for i, name in enumerate(network.names)}
    nodes = "".join(_write_node(f"n{i}", v) for i, v in enumerate(network.variables))
    edges = "".join(
        f'    <edge source="n{number[parent]}" target="n{number[name]}"/>\n'
        for name in network.names
        for parent in network.structure.parents(name)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n{keys}'
        f'  <graph id="network" edgedefault="directed">\n{nodes}{edges}  </graph>\n</graphml>\n'
    )


def _write_node(key: str, variable: Variable) -> str:
    values = {
        "label": variable.name,
        "kind": "categorical" if variable.is_categorical else "continuous",
        "latent": str(variable.latent).lower(),
        "states": ", ".join(variable.states or ()),
    }
    data = "".join(
        f"      <data key={quoteattr(name)}>{escape(to_xml_text(value))}</data>\n"
        for name, value in values.items()
        if value
    )
    return f'    <node id="{key}">\n{data}    </node>\n'


def write_mermaid(network: Network) -> str:
    """Return the graph for Mermaid, which Markdown pages show.

    Examples
    --------
    >>> coin = Network.from_tables([Variable.hidden("coin", 2)], {}, {"coin": [0.25, 0.75]})
    >>> print(write_mermaid(coin), end="")
    flowchart TD
        n0(["coin"])
    """
    number = {name: f"n{i}" for i, name in enumerate(network.names)}
    lines = ["flowchart TD"]
    for variable in network.variables:
        left, right = ("([", "])") if variable.latent else ("[", "]")
        lines.append(f"    {number[variable.name]}{left}{_quote(variable.name)}{right}")
    for name in network.names:
        for parent in network.structure.parents(name):
            lines.append(f"    {number[parent]} --> {number[name]}")
    return "\n".join(lines) + "\n"


def _quote(name: str) -> str:
    """Write every character that could mean something by its number."""
    safe = (c if c.isalnum() or c in " _-.,:+/" else f"#{ord(c)};" for c in name)
    return f'"{"".join(safe)}"'
