"""Model files: one module for each format, chosen by the end of the file's name."""

from __future__ import annotations

import importlib
import os
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latentforest.errors import FileFormatError, FileFormatWarning, ModelError, ParameterError
from latentforest.files import write_atomically
from latentforest.visible import make_encodable

if TYPE_CHECKING:
    from latentforest.data.variable import Variable
    from latentforest.formats.content import ModelContent
    from latentforest.model import Network

# The module for each end of a name. It has `read(path)` and `write(content, path)`.
FORMATS = {
    ".json": "native",
    ".bif": "bif",
    ".bif.gz": "bif",
    ".bifxml": "xmlbif",
    ".xmlbif": "xmlbif",
    ".xml": "xmlbif",
    ".xdsl": "xdsl",
    ".net": "net",
    ".uai": "uai",
}
# Graphs without parameters, which are written only: the function in `pictures`.
PICTURES = {
    ".dot": "write_dot",
    ".gv": "write_dot",
    ".graphml": "write_graphml",
    ".mmd": "write_mermaid",
    ".mermaid": "write_mermaid",
}


def load(path: str | os.PathLike[str]) -> Network:
    """Read a network from a file.

    Parameters
    ----------
    path
        A file written by `save` or by another program. The end of its name says what it is:
        ``.bif`` or ``.bif.gz`` (compressed), ``.bifxml`` or ``.xmlbif``, ``.xdsl`` (GeNIe),
        ``.net`` (Hugin), ``.uai``; of a file ``.xml`` the first element says it. All others are
        the library's own JSON files.

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
    return read_content(path).network


def read_content(path: str | os.PathLike[str]) -> ModelContent:
    """Read a network, and where its variables stand in a drawing if the file says it."""
    suffix = _find_suffix(path)
    if suffix in PICTURES:
        raise ParameterError(f"{os.fspath(path)}: {suffix} files hold a graph without parameters")
    try:
        if suffix == ".xml":
            return _read_xml(path)
        content: ModelContent = _open(FORMATS.get(suffix, "native")).read(path)
    except FileFormatError as error:
        raise FileFormatError(f"{error}{_guess_format(path, suffix)}") from None
    return content


def _guess_format(path: str | os.PathLike[str], suffix: str) -> str:
    """Say what a file looks like whose name says something else."""
    with Path(path).open("rb") as file:
        start = file.read(1000).decode("latin-1").removeprefix("\xef\xbb\xbf").lstrip()
    signs = {
        ".json": r"\{\s*\"",
        ".bif.gz": "\x1f\x8b",
        ".bif": r"network\b[^{]*\{|variable\b[^{]*\{",
        ".bifxml": r"(<[?!].*?)*<BIF\b",
        ".xdsl": r"(<[?!].*?)*<smile\b",
        ".net": r"net\s*\{|node\b[^{]*\{",
        ".uai": r"BAYES\s",
    }
    for likely, pattern in signs.items():
        is_it = re.match(pattern, start, re.DOTALL | re.IGNORECASE) is not None
        if is_it and FORMATS[likely] != FORMATS.get(suffix, "native"):
            return f"; it looks like a file whose name ends in {likely}"
    return ""


def _read_xml(path: str | os.PathLike[str]) -> ModelContent:
    """Read a file whose first element says what it is."""
    from latentforest.formats.xml_file import parse_xml

    root = parse_xml(path)
    modules = {"BIF": "xmlbif", "SMILE": "xdsl"}
    if root.tag.upper() not in modules:
        raise FileFormatError(f"{os.fspath(path)}: expected <BIF> or <smile>, found <{root.tag}>")
    module = _open(modules[root.tag.upper()])
    content: ModelContent = module.read_element(root, os.fspath(path))
    return content


def save(network: Network | Any, path: str | os.PathLike[str]) -> None:
    """Write a network to a file, in the format that the end of its name says.

    Parameters
    ----------
    network
        The network to write, or a fitted learner, whose network is written.
    path
        A name that ends in ``.json`` (the library's own format, which keeps everything); ``.bif``,
        ``.bif.gz`` (compressed), ``.bifxml``, ``.xmlbif``, ``.xdsl``, ``.net`` or ``.uai``, which
        hold categorical variables only; or ``.dot``, ``.gv``, ``.graphml``, ``.mmd`` or
        ``.mermaid`` for the graph without parameters. What is lost is told by a
        `FileFormatWarning`. The file appears only when it is complete.

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
    from latentforest.formats.content import ModelContent

    write_content(ModelContent(_find_network(network)), path)


def write_content(content: ModelContent, path: str | os.PathLike[str]) -> None:
    """Write a network, and where its variables stand where the format can hold that."""
    network, suffix = content.network, _find_suffix(path)
    check_variables(network.variables, path)
    if suffix in PICTURES:
        write_atomically(path, getattr(_open("pictures"), PICTURES[suffix])(network))
        return
    _warn_of_loss(content, path)
    _open(FORMATS[suffix]).write(content, path)


def _find_network(given: Any) -> Network:
    """Return a network, or that of a fitted learner."""
    from latentforest.model import Network

    network = getattr(given, "network_", given)
    if isinstance(network, Network):
        return network
    what = type(given).__name__
    if hasattr(given, "fit"):
        raise ModelError(f"this {what} has no network yet; fit it before it is saved")
    raise ModelError(f"expected a Network or a fitted learner to save, got {what}")


def check_variables(variables: Iterable[Variable], path: str | os.PathLike[str]) -> None:
    """Refuse a path whose format is unknown or cannot hold a network of these variables."""
    variables, suffix = list(variables), _find_suffix(path)
    if not suffix:
        known = ", ".join((*FORMATS, *PICTURES))
        raise ParameterError(
            f"path: got {os.fspath(path)!r}, expected a name that ends in one of {known}"
        )
    if FORMATS.get(suffix, "native") == "native":
        return
    continuous = [variable.name for variable in variables if not variable.is_categorical]
    if continuous:
        from latentforest.data.lookup import list_briefly

        raise ModelError(
            f"cannot write {os.fspath(path)}: {suffix} files hold categorical variables only, and "
            f"these are continuous: {list_briefly(continuous)}; .json files hold both"
        )
    for variable in variables:
        for text in (variable.name, *(variable.states or ())):
            if make_encodable(text) != text:
                raise ModelError(
                    f"cannot write {os.fspath(path)}: {text!r} of variable {variable.name!r} holds "
                    f"half of a character, which {suffix} files do not keep; .json files do"
                )


def _find_suffix(path: str | os.PathLike[str]) -> str:
    """Return the known end of a name, or nothing."""
    name = Path(path).name.lower()
    return next((suffix for suffix in (*FORMATS, *PICTURES) if name.endswith(suffix)), "")


def _open(module: str) -> Any:
    return importlib.import_module(f"{__name__}.{module}")


def _warn_of_loss(content: ModelContent, path: str | os.PathLike[str]) -> None:
    """Say what a format does not keep."""
    suffix = _find_suffix(path)
    lost = [] if FORMATS[suffix] == "native" else _list_losses(content.network, suffix)
    better = "a .json file does" if lost else "a .xdsl file does"
    if content.positions and suffix in (".json", ".uai"):
        lost.append("where the variables stand in a drawing")
    if lost:
        message = f"{os.fspath(path)} does not keep {_join(lost)}; {better}"
        warnings.warn(message, FileFormatWarning, stacklevel=4)


def _list_losses(network: Network, suffix: str) -> list[str]:
    """What a format of other programs does not keep."""
    lost = ["the posterior of the parameters"] if network.posterior is not None else []
    if network.predictive is not network:
        lost.append("the parameters for new rows")
    if network.n_tied:
        lost.append("how many parameters are tied")
    if suffix == ".uai":
        lost.append("the names of variables and states")
        if network.latents:
            lost.append("which of them are latent")
    if network.recipe is not None:
        lost.append("how tables are to be read")
    if network.labels:
        lost.append("the labels")
    return lost


def _join(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
