"""Which mergers of groups are worth fitting: quick estimates of what they gain in BIC.

Two single columns are judged by their mutual information, numbers cut into classes. Of larger
groups one lends its classes: EM takes a few steps from there, over the columns of both.
"""

from __future__ import annotations

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.estimation.em import EMSettings, fit
from latentforest.inference.association.distances import cut_numbers
from latentforest.inference.association.information import mutual_information
from latentforest.inference.engine import make_engine
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure
from latentforest.scores.criteria import FitSummary, bic
from latentforest.search.greedy.groups import GroupFits, GroupModel

N_CLASSES = 8  # into which continuous columns are cut
SETTINGS = EMSettings(max_iterations=4, tolerance=1e-6)


class MergerScreen:
    """Estimates what mergers of two groups gain; each merger is judged once.

    Parameters
    ----------
    fits
        The fits of the groups.
    """

    def __init__(self, fits: GroupFits) -> None:
        self._fits = fits
        names = fits.data.dataset.names
        self._places = {name: j for j, name in enumerate(names)}
        self._alone = {name: fits.fit([name], 1).network.table_view(name) for name in names}
        self._pairs = estimate_pairs(fits.data.dataset)
        self._known: dict[frozenset[str], float] = {}

    def estimate(self, a: GroupModel, b: GroupModel) -> float:
        """Return by how much the merger raises BIC, roughly and rather too little."""
        key = frozenset(a.columns + b.columns)
        if key not in self._known:
            is_pair = len(key) == 2
            self._known[key] = self._look_up(a, b) if is_pair else self._climb_a_little(a, b)
        return self._known[key]

    def _look_up(self, a: GroupModel, b: GroupModel) -> float:
        return float(self._pairs[self._places[a.columns[0]], self._places[b.columns[0]]])

    def _climb_a_little(self, a: GroupModel, b: GroupModel) -> float:
        """Fit the columns of both with as many classes as one of them has, from its classes."""
        names = self._fits.order(a.columns + b.columns)
        found = [-np.inf]
        for is_joint in self._fits.list_forms(names):
            for lender in (a, b):
                if lender.n_states > 1 or is_joint:
                    structure = self._fits.make_structure(names, lender.n_states, is_joint)
                    found.append(self._measure(structure, self._lend(lender, structure)))
        return max(found) - a.bic - b.bic

    def _measure(self, structure: Structure, start: FloatArray) -> float:
        """BIC after a few iterations."""
        fits = self._fits
        result = fit(
            make_engine(structure, fits.data),
            start,
            settings=SETTINGS,
            deadline=fits.settings.deadline,
            names_bounded=False,
        )
        if result.monitor.was_interrupted:
            raise KeyboardInterrupt
        total = fits.data.total_weight
        return bic(FitSummary(result.log_likelihood, structure.dimension, total))

    def _lend(self, lender: GroupModel, structure: Structure) -> FloatArray:
        """Make a start in which the other columns are the same in all classes.

        So the first E-step gives the posterior of the lender, whatever the others are.
        """
        theta, network = np.zeros(structure.n_values), lender.network
        for name in structure.names:
            is_own = name in network.structure
            source = network.table_view(name) if is_own else self._alone[name]
            table = structure.table_view(theta, name)
            if name not in structure.continuous:
                table[...] = source
                continue
            own = network.structure.pouch(name) if is_own else (name,)
            table[..., 0] = source[..., 0]
            for i, other in enumerate(structure.pouch(name)):
                if other in own:
                    table[..., 1 + i] = source[..., 1 + own.index(other)]
        return theta


def estimate_pairs(data: Dataset) -> FloatArray:
    """Return what a latent class model of each pair of columns gains in BIC, by its information.

    Of the information that is found, that of independent columns on average is taken off, and
    the price of a second class.
    """
    cut = cut_numbers(data, N_CLASSES)
    seen = np.stack([np.asarray(column) >= 0 for column in cut.columns], axis=1).astype(np.float64)
    totals = (seen * data.weights[:, None]).T @ seen
    degrees = np.array([variable.n_states - 1 for variable in cut.variables])
    sizes = [v.n_states - 1 if v.is_categorical else 2 for v in data.variables]
    price = 0.5 * np.log(data.total_weight) * (1.0 + np.add.outer(sizes, sizes))
    gains: FloatArray = totals * mutual_information(cut) - 0.5 * np.outer(degrees, degrees) - price
    return gains
