"""Settings of the search for generalized latent class models: links, and what it begins with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sklearn.base import clone

from latentforest.data import Dataset, Variable
from latentforest.data.lookup import list_briefly
from latentforest.errors import ModelError, ParameterError
from latentforest.learners.common.base import NetworkLearner, Work
from latentforest.learners.common.interruption import fit_start
from latentforest.learners.registry import COMMANDS
from latentforest.model import Network, Structure
from latentforest.search.glc.draft import Draft
from latentforest.search.glc.fits import transfer
from latentforest.search.glc.neighbours import GlcRules, Link
from latentforest.search.glc.shapes import check_generalized
from latentforest.search.naming import name_latents
from latentforest.search.trees.initial import open_pouches

USUAL_STARTS = ("latent-class", "bridged-islands")  # for tables that are not small
Links = Iterable[Sequence[str] | str] | str


def read_links(setting: str, links: Links, names: Iterable[str]) -> frozenset[Link]:
    """Read pairs (parent, child), or text such as "A -> B"; several may stand in one text."""
    listed = links.split(";") if isinstance(links, str) else list(links)
    known, found = set(names), set()
    for link in listed:
        ends = [end.strip() for end in link.split("->")] if isinstance(link, str) else list(link)
        if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
            raise ParameterError(
                f'{setting} must be pairs (parent, child) or text such as "A -> B", got {link!r}'
            )
        for end in ends:
            if end not in known:
                names_known = list_briefly(sorted(known))
                raise ParameterError(
                    f"{setting}: there is no variable {end!r}; known are {names_known}"
                )
        found.add((ends[0], ends[1]))
    if setting != "forbidden":
        _check_cycles(setting, found)
    return frozenset(found)


def _check_cycles(setting: str, links: set[Link]) -> None:
    parents = {name: frozenset(p for p, c in links if c == name) for link in links for name in link}
    left = dict(parents)
    while left:
        free = [name for name, above in left.items() if above.isdisjoint(left)]
        if not free:
            raise ParameterError(
                f"{setting}: the links have a cycle among {list_briefly(sorted(left))}"
            )
        for name in free:
            del left[name]


def check_start(start: Any, table: Dataset) -> None:
    """Refuse what is not a start, and networks of other columns."""
    if start is None or isinstance(start, NetworkLearner):
        return
    if isinstance(start, str):
        if start not in COMMANDS or start == "glc":
            known = ", ".join(name for name in COMMANDS if name != "glc")
            raise ParameterError(f"start: there is no learner {start!r}; known are {known}")
    elif isinstance(start, Network):
        check_generalized(start.structure)
        differing = set(table.names) ^ set(start.observed)
        if differing:
            raise ModelError(f"the initial model and the table differ in {sorted(differing)[:10]}")
    else:
        raise ParameterError(
            f"start must be a Network, a learner or the name of one, got {type(start).__name__}"
        )


def list_starts(
    start: Any, work: Work, columns: Sequence[Variable], rules: GlcRules, has_many: bool
) -> Iterator[tuple[Structure, Network | None]]:
    """Yield the models that a search chooses its start from.

    Unless a start is given: a latent class model with two classes, and for larger tables one with
    as many as BIC likes, and a latent tree, if the rules allow them.
    """
    yield make_start(start, work, columns, rules)
    if start is not None or not has_many:
        return
    for name in USUAL_STARTS:
        try:
            yield make_start(name, work, columns, rules)
        except ParameterError:
            continue


def make_start(
    start: Any, work: Work, columns: Sequence[Variable], rules: GlcRules
) -> tuple[Structure, Network | None]:
    """Return the structure that the search begins with, and a network to take parameters from.

    A latent class model gets the required links. Another start must obey the rules.
    """
    if start is None:
        network, draft = None, _make_latent_class(columns, rules)
        beginning = "the latent class model with the required links"
    else:
        network = open_pouches(work.adopt(_learn(start, work)))
        check_generalized(network.structure)
        gone = set(work.table.names) - {each.name for each in columns}
        draft, beginning = Draft.of(network.structure.remove(gone)), "the initial model"
    if not draft.is_acyclic():
        raise ParameterError(f"{beginning} has a cycle")
    fault = rules.find_fault(draft)
    if fault is not None:
        raise ParameterError(f"{beginning} breaks a rule of the search: it {fault}")
    return draft.build(columns), network


def _make_latent_class(columns: Sequence[Variable], rules: GlcRules) -> Draft:
    names = sorted(each.name for each in columns)
    (latent,) = name_latents(1, names)
    parents = {name: frozenset([latent]) for name in names}
    for parent, child in rules.required:
        if parent not in parents or child not in parents:
            raise ParameterError(
                f"the required link {parent} -> {child} is of a column that never varies"
            )
        parents[child] |= {parent}
    return Draft({latent: 2}, {latent: frozenset(), **parents})


def _learn(start: Any, work: Work) -> Network:
    if isinstance(start, Network):
        return start
    if isinstance(start, str):
        command = COMMANDS[start]
        learner = command.learner.load()(**command.settings)
        learner.set_params(random_state=work.seed, time_limit=work.seconds_left())
    elif hasattr(start, "network_"):
        return _forget(start.network_)
    else:
        learner = clone(start)
    return _forget(fit_start(learner, work))


def _forget(network: Network) -> Network:
    """Return a network without a posterior of its parameters."""
    return network if network.posterior is None else network.with_parameters(network.parameters)


def put_back(network: Network, table: Dataset, keeps_names: bool) -> Network:
    """Give a network all columns of a table in their order, and its latent variables new names."""
    if not keeps_names:
        network = _rename(network, table)
    draft = Draft.of(network.structure)
    sizes = {name: draft.sizes[name] for name in sorted(draft.sizes)}
    alone = {name: frozenset[str]() for name in table.names}
    structure = Draft(sizes, {**alone, **draft.parents}).build(table.variables)
    return Network(structure, transfer(structure, network.structure, network.parameters))


def _rename(network: Network, table: Dataset) -> Network:
    """Number the latent variables, those of the first columns by name first."""
    draft, places = Draft.of(network.structure), {n: i for i, n in enumerate(sorted(table.names))}
    first = {
        name: min((places[each] for each in children if each in places), default=len(places))
        for name, children in draft.list_children().items()
    }
    order = sorted(draft.sizes, key=lambda name: (first[name], network.latents.index(name)))
    names = dict(zip(order, name_latents(len(order), table.names), strict=True))
    structure = network.structure
    variables = [
        Variable(names.get(each.name, each.name), each.states, each.latent)
        for each in structure.variables
    ]
    parents = {
        names.get(name, name): tuple(names.get(each, each) for each in structure.parents(name))
        for name in structure.names
    }
    return Network(Structure(variables, parents), network.parameters)
