"""How much columns tell about a latent variable of a network: alone, and together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from latentforest.data.results.table import Table
from latentforest.errors import ModelError, ParameterError
from latentforest.inference.association.cumulative_information import SampledInformation
from latentforest.inference.association.pair_tables import entropy_of, make_pair_tables
from latentforest.model.network import Network
from latentforest.model.showing.profiles import compute_profiles, compute_sizes


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
    entropy = entropy_of(sizes)
    sample = SampledInformation(network, make_pair_tables(network))
    told = sample.accumulate(latent, order[:max_together])
    told[:1] = bits[: min(1, len(told))]  # of one column it is known
    together = np.minimum(np.maximum.accumulate(told), entropy).tolist()
    most = max([*sample.told_by_all([latent]).tolist(), *together], default=0.0)
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
