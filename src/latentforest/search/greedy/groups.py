"""Latent class models of groups of columns, for partitions of a table into independent groups."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.starts import random_starts
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.scores.criteria import FitSummary, bic
from latentforest.search.naming import name_latents, name_new_latent
from latentforest.search.states import split_starts
from latentforest.ties import choose_best, is_higher

COVARIANCES = ("diagonal", "full", "best")
N_BESIDES = 4  # random starts beside those of one class less, one of them split


@dataclass(frozen=True)
class GroupSettings:
    """How the model of a group is found.

    Parameters
    ----------
    covariance
        Continuous columns are independent given the class ("diagonal"), have a joint Gaussian
        ("full"), or whichever gives the group the higher BIC ("best").
    max_states
        Most classes of a group.
    n_starts
        Random starts of two classes; up to four beside split ones, where there are more.
    settings
        Of EM.
    seed
        Every group and number of classes has its own random numbers, derived from this.
    deadline
        Value of ``time.monotonic()`` after which fits are cut short.
    """

    covariance: str
    max_states: int
    n_starts: int
    settings: EMSettings
    seed: int
    deadline: float | None = None


@dataclass(frozen=True, eq=False)
class GroupModel:
    """The best model of a group; without latent variable if that has one class."""

    columns: tuple[str, ...]
    network: Network
    log_likelihood: float
    bic: float

    @property
    def n_states(self) -> int:
        """Number of classes."""
        latents = self.network.latents
        return self.network.structure.shape(latents[0])[-1] if latents else 1


class GroupFits:
    """Finds the models of groups of columns; each group is fitted once.

    Parameters
    ----------
    data
        The table.
    settings
        How.
    """

    def __init__(self, data: PatternedData, settings: GroupSettings) -> None:
        self.data, self.settings = data, settings
        self._latent = name_new_latent(data.dataset.names)
        self._known: dict[frozenset[str], GroupModel] = {}

    def best(self, columns: Sequence[str]) -> GroupModel:
        """Return the model of highest BIC: one more class as long as that rises."""
        key = frozenset(columns)
        if key not in self._known:
            names = self.order(columns)
            found = [self._climb(names, is_joint) for is_joint in self.list_forms(names)]
            self._known[key] = choose_best(found, lambda model: model.bic)
        return self._known[key]

    def has(self, columns: Sequence[str]) -> bool:
        """Whether the best model is known already."""
        return frozenset(columns) in self._known

    def order(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return columns in the order of the table."""
        return tuple(sorted(columns, key=self.data.bits.__getitem__))

    def fit(self, columns: Sequence[str], n_states: int) -> GroupModel:
        """Return the model with so many classes; continuous columns are independent given them."""
        return self._fit(tuple(columns), n_states, False, None)

    def list_forms(self, names: Sequence[str]) -> list[bool]:
        """Whether continuous columns have a joint Gaussian: the forms that differ in a group."""
        n_numbers = sum(not self.data.dataset.variable(name).is_categorical for name in names)
        if n_numbers < 2:
            return [False]
        return {"diagonal": [False], "full": [True], "best": [False, True]}[
            self.settings.covariance
        ]

    def _climb(self, names: tuple[str, ...], is_joint: bool) -> GroupModel:
        best = self._fit(names, 1, is_joint, None)
        if len(names) == 1 and self.data.dataset.variable(names[0]).is_categorical:
            return best  # a mixture of distributions of one column is one of them
        for n_states in range(2, self.settings.max_states + 1):
            model = self._fit(names, n_states, is_joint, best)
            if not is_higher(model.bic, best.bic):
                break
            best = model
        return best

    def _fit(
        self, names: tuple[str, ...], n_states: int, is_joint: bool, earlier: GroupModel | None
    ) -> GroupModel:
        structure = self.make_structure(names, n_states, is_joint)
        forest, settings = make_engine(structure, self.data), self.settings
        seed = (
            zlib.crc32("\0".join([*names, str(n_states)]).encode(errors="surrogatepass"))
            ^ settings.seed
        )
        is_split = earlier is not None and bool(earlier.network.latents)
        n_starts = settings.n_starts if n_states > 1 else 1
        if is_split:  # which are better starts than random ones
            n_starts = min(n_starts, N_BESIDES)
        starts = random_starts(structure, self.data.dataset, n_starts, seed, self.data.summary)
        if earlier is not None and is_split:
            split = split_starts(earlier.network, self._latent, structure)
            starts = np.concatenate([starts, split])
        result = fit(forest, starts, settings=settings.settings, deadline=settings.deadline)
        if result.monitor.was_interrupted:
            raise KeyboardInterrupt
        value, total = result.log_likelihood, self.data.total_weight
        score = bic(FitSummary(value, structure.dimension, total))
        return GroupModel(names, Network.trusted(structure, result.parameters), value, score)

    def make_structure(self, names: Sequence[str], n_states: int, is_joint: bool) -> Structure:
        """Make the structure of a group with so many classes."""
        variables = [self.data.dataset.variable(name) for name in names]
        pouch = [variable.name for variable in variables if not variable.is_categorical]
        pouches = [pouch] if is_joint else []
        if n_states == 1:
            return Structure(variables, {}, pouches)
        latent = Variable.hidden(self._latent, n_states)
        return Structure([latent, *variables], dict.fromkeys(names, self._latent), pouches)


def put_together(groups: Sequence[GroupModel], variables: Sequence[Variable]) -> Network:
    """Make one forest of the models of groups that are a partition of the columns."""
    names = name_latents(len(groups), [variable.name for variable in variables])
    latents: list[Variable] = []
    parents: dict[str, tuple[str, ...]] = {}
    tables: dict[str, FloatArray] = {}
    pouches: list[tuple[str, ...]] = []
    for group in groups:
        network, new = group.network, {}
        if network.latents:
            new = {network.latents[0]: names[len(latents)]}
            latents.append(Variable.hidden(names[len(latents)], group.n_states))
        structure = network.structure
        for name in structure.names:
            parents[new.get(name, name)] = tuple(new.get(z, z) for z in structure.parents(name))
            tables[new.get(name, name)] = network.table_view(name)
        pouches += structure.pouches
    whole = Structure([*latents, *variables], parents, pouches)
    theta = np.empty(whole.n_values)
    for name, table in tables.items():
        whole.table_view(theta, name)[...] = table
    return Network(whole, theta)
