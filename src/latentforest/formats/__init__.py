"""Model files: one module for each format, chosen by the end of the file's name."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latentforest.errors import FileFormatWarning, ModelError, ParameterError

if TYPE_CHECKING:
    from latentforest.data.variable import Variable
    from latentforest.model import Network

# The module for each end of a name. It has `load(path)` and `save(network, path)`.
FORMATS = {".json": "native", ".bif": "bif", ".bif.gz": "bif"}


def load(path: str | os.PathLike[str]) -> Network:
    """Read a network from a file.

    Parameters
    ----------
    path
        A file written by `save`, by `Network.save`, or by another program. The end of its name
        says what it is: ``.bif`` or ``.bif.gz`` (compressed) for the interchange format of
        Bayesian networks; all others are the library's own JSON files.

    Returns
    -------
    Network
        A `PosteriorNetwork` if the file has the posterior of the parameters.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from latentforest import Network, Variable
    >>> coin = Network.from_tables([Variable("coin", ("heads", "tails"))], {}, {"coin": [0.5, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "coin.json")
    ...     coin.save(path)
    ...     load(path) == coin
    True
    """
    network: Network = _open(FORMATS.get(_find_suffix(path), "native")).load(path)
    return network


def save(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network to a file, in the format that the end of its name says.

    Parameters
    ----------
    network
        The network to write.
    path
        A name that ends in ``.json`` (the library's own format, which keeps everything), ``.bif``,
        or ``.bif.gz`` (compressed). BIF files hold categorical variables only, and no posterior
        of the parameters. The file appears only when it is complete.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from latentforest import Network, Variable
    >>> coin = Network.from_tables([Variable("coin", ("heads", "tails"))], {}, {"coin": [0.5, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "coin.bif")
    ...     save(coin, path)
    ...     print(path.read_text())
    network unknown {
    }
    variable coin {
      type discrete [ 2 ] { heads, tails };
    }
    probability ( coin ) {
      table 0.5, 0.5;
    }
    <BLANKLINE>
    """
    check_variables(network.variables, path)
    module = FORMATS[_find_suffix(path)]
    if module != "native":
        _warn_of_loss(network, path)
    _open(module).save(network, path)


def check_variables(variables: Iterable[Variable], path: str | os.PathLike[str]) -> None:
    """Refuse a path whose format is unknown or cannot hold a network of these variables."""
    suffix = _find_suffix(path)
    if suffix not in FORMATS:
        raise ParameterError(
            f"path: got {os.fspath(path)!r}, expected a name that ends in {' or '.join(FORMATS)}"
        )
    for variable in variables:
        if FORMATS[suffix] != "native" and not variable.is_categorical:
            raise ModelError(
                f"cannot write {os.fspath(path)}: variable {variable.name!r} is continuous, and "
                f"{suffix} files hold categorical variables only; .json files hold both"
            )


def _find_suffix(path: str | os.PathLike[str]) -> str:
    """Return the known end of a name, or nothing."""
    name = Path(path).name.lower()
    return next((suffix for suffix in FORMATS if name.endswith(suffix)), "")


def _open(module: str) -> Any:
    return importlib.import_module(f"{__name__}.{module}")


def _warn_of_loss(network: Network, path: str | os.PathLike[str]) -> None:
    """Say what a format of other programs does not keep."""
    lost = ["the posterior of the parameters"] if network.posterior is not None else []
    if network.n_tied:
        lost.append("how many parameters are tied")
    if network.recipe is not None:
        lost.append("how tables are to be read")
    if lost:
        message = f"{os.fspath(path)} does not keep {' and '.join(lost)}; a .json file does"
        warnings.warn(message, FileFormatWarning, stacklevel=3)
