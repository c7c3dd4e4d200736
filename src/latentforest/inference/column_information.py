"""How much columns tell about a latent variable of a network: alone, and together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.table import Table
from latentforest.errors import ModelError, ParameterError
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import FloatArray
from latentforest.model.graphs import ancestors
from latentforest.model.network import Network
from latentforest.model.profiles import compute_profiles, compute_sizes

N_ROWS = 4000  # drawn from the network to see what several columns tell together
SEED = 0


def latent_information(
    network: Network,
    latent: str,
    columns: Sequence[str] | None = None,
    max_together: int = 20,
) -> Table:
    """Measure how much each column tells about a latent variable, and how much the first tell.

    Parameters
    ----------
    network
        Any network.
    latent
        One of its latent variables.
    columns
        Observed variables, categorical or continuous; by default all.
    max_together
        For so many of the most telling columns it is computed what they tell together.

    Returns
    -------
    table
        The most telling column first: ``column``; ``bits``, its mutual information with the latent
        variable; ``share`` of the variable's entropy; ``cumulative``, the information in this
        column and all above it together, in bits; ``coverage``, its share of the information that
        all observed variables hold. The last two are means over rows drawn from the network, always
        the same, and are good to about two digits; beyond ``max_together`` they are missing.

    Examples
    --------
    >>> from latentforest import LatentClass, datasets
    >>> model = LatentClass(2, random_state=0).fit(datasets.load("hiv-tests"))
    >>> table = latent_information(model.network_, "class")
    >>> table["column"], [round(value, 2) for value in table["bits"]]
    (['A', 'D', 'C', 'B'], [0.9, 0.8, 0.77, 0.28])
    """
    if latent not in network.latents:
        raise ModelError(f"{latent!r} is not a latent variable; there are {list(network.latents)}")
    names = network.observed if columns is None else columns
    for name in names:
        if name not in network.observed:
            raise ParameterError(f"columns: {name!r} is not an observed variable of the network")
    found = compute_profiles(network, latent, names)
    order = [profile.name for profile in found]
    bits = [max(profile.information, 0.0) / math.log(2) for profile in found]
    sizes = compute_sizes(network, latent)
    entropy = float(_entropies(sizes[None])[0])
    together = _accumulate(network, latent, order[:max_together], entropy, bits)
    most = max([_tell(network, latent, network.observed, entropy), *together], default=0.0)
    missing = [None] * (len(order) - len(together))
    return Table(
        {
            "column": order,
            "bits": bits,
            "share": [each / entropy if entropy > 0 else 0.0 for each in bits],
            "cumulative": [*together, *missing],
            "coverage": [*(each / most if most > 0 else 0.0 for each in together), *missing],
        }
    )


def _accumulate(
    network: Network, latent: str, names: Sequence[str], entropy: float, bits: Sequence[float]
) -> list[float]:
    """Information in the first one, two, … columns; more columns never tell less."""
    small = _keep_above(network, [latent, *names])
    told = [_tell(small, latent, names[: k + 1], entropy) for k in range(1, len(names))]
    running = np.maximum.accumulate([*bits[: min(1, len(names))], *told])
    return np.minimum(running, entropy).tolist() if len(names) else []


def _keep_above(network: Network, names: Sequence[str]) -> Network:
    """Return the network of some variables and all above them; the rest says nothing of these."""
    structure = network.structure
    found = {other for name in names for other in structure.pouch(name)}
    kept = found.union(ancestors(structure, sorted(found)))
    smaller = structure.remove([name for name in structure.names if name not in kept])
    flat = np.empty(smaller.n_values)
    smaller.copy_tables(flat, structure, network.parameters, but=())
    return Network.trusted(smaller, flat)


def _tell(network: Network, latent: str, names: Sequence[str], entropy: float) -> float:
    """Entropy of a latent variable, less what is left of it when some columns are known."""
    drawn = network.sample(N_ROWS, random_state=SEED)
    columns = [
        column if name in names else np.full(N_ROWS, -1 if variable.is_categorical else np.nan)
        for name, variable, column in zip(drawn.names, drawn.variables, drawn.columns, strict=True)
    ]
    plain = Network.trusted(network.structure, np.array(network.parameters))
    rows = Rows(plain, PatternedData(Dataset(drawn.variables, columns)))
    (posterior,) = rows.posteriors([latent])
    return max(entropy - float(_entropies(posterior).mean()), 0.0)


def _entropies(rows: FloatArray) -> FloatArray:
    """Entropy of each row of probabilities, in bits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms: FloatArray = np.where(rows > 0, -rows * np.log2(rows), 0.0)
    total: FloatArray = terms.sum(axis=1)
    return total
