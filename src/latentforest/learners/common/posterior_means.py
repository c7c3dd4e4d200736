"""Parameters of a given structure with Dirichlet priors: their posterior means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from latentforest.estimation.complete import estimate_complete
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.priors import Smoothing, check_sample_size, pseudo_counts, share_out
from latentforest.inference.counts import count_tables, normalize_tables
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model import Network, Structure
from latentforest.model.posterior_network import PosteriorNetwork

BDEU = "bdeu"
SETTINGS = EMSettings(max_iterations=2000, tolerance=1e-8)


@dataclass(frozen=True)
class ParameterPrior:
    """Pseudo-counts of any structure.

    Attributes
    ----------
    counts
        "bdeu", or as for ``pseudo_counts``.
    equivalent_sample_size
        With "bdeu": observations for each table, shared out evenly to its cells.
    """

    counts: Smoothing = BDEU
    equivalent_sample_size: float = 1.0

    def check(self, columns: Structure) -> None:
        """Refuse what makes no pseudo-counts; those of latent variables are read later."""
        check_sample_size(self.equivalent_sample_size)
        if self.counts != BDEU and not isinstance(self.counts, Mapping):
            pseudo_counts(columns, self.counts)

    def count(self, structure: Structure) -> FloatArray:
        """Return the pseudo-count of every cell."""
        if self.counts == BDEU:
            return share_out(structure, float(self.equivalent_sample_size))
        return pseudo_counts(structure, self.counts)


def estimate_means(
    given: Network | Structure, data: PatternedData, prior: ParameterPrior, deadline: float | None
) -> Network:
    """Estimate the parameters of a network from all rows.

    Counts of a complete table give posterior means. With latent variables, missing values or
    continuous columns it is EM with pseudo-counts from the parameters given. Networks that have a
    posterior, or parameters tied to each other, stay as they are.

    Parameters
    ----------
    given
        A network; its structure is enough where nothing is missing or latent.
    data
        The table.
    prior
        Of the parameters.
    deadline
        Value of ``time.monotonic()`` at which EM ends.
    """
    structure = given if isinstance(given, Structure) else given.structure
    is_counted = not (structure.latents or structure.continuous or data.dataset.has_missing)
    if is_counted:
        counts = count_tables(structure, data.dataset) + prior.count(structure)
        return Network(structure, normalize_tables(structure, counts))
    if isinstance(given, Structure):
        given = estimate_complete(structure, data.dataset)
    if isinstance(given, PosteriorNetwork) or given.n_tied:
        return given
    engine = make_engine(structure, data)
    result = fit(engine, given.parameters, prior.count(structure), SETTINGS, deadline=deadline)
    return given.with_parameters(result.parameters)
