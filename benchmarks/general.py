"""Networks of any shape. ``python benchmarks/general.py files``: reading the published ones.

The networks of the bnlearn repository come with pgmpy. Only its files are needed to read them; if
it can be imported, its own reader is timed, too, and the parameters are compared.
"""

from __future__ import annotations

import gzip
import importlib.metadata
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from common import print_table, seconds
from latentforest import Network, load, save


def list_published() -> list[Path]:
    """Find the BIF files that pgmpy brings along, small ones first."""
    try:
        files = importlib.metadata.files("pgmpy") or []
    except importlib.metadata.PackageNotFoundError:
        raise SystemExit(
            "the networks come with pgmpy: pip install 'latentforest[bench]'"
        ) from None
    found = [Path(str(file.locate())) for file in files if file.name.endswith(".bif.gz")]
    return sorted(found, key=lambda path: path.stat().st_size)


def compare_files() -> None:
    """Read all published networks, write them, read them again, and compare with pgmpy."""
    rows = [_describe(path) for path in list_published()]
    print_table("Published networks: seconds to read and write, largest difference", rows)


def _describe(path: Path) -> dict[str, Any]:
    found: list[Network] = []
    with warnings.catch_warnings(record=True) as said, tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("always")
        reading = seconds(lambda: found.append(load(path)))
        copy = Path(folder) / "copy.bif"
        writing = seconds(lambda: save(found[0], copy))
        is_same = load(copy) == found[0]
    return {
        "network": path.name.removesuffix(".bif.gz"),
        "variables": len(found[0].names),
        "numbers": found[0].structure.n_values,
        "warnings": len(said),
        "read": reading,
        "write": writing,
        "same again": is_same,
        **_compare(path, found[0]),
    }


def _compare(path: Path, network: Network) -> dict[str, Any]:
    """Time pgmpy's reader and compare its tables."""
    try:
        from pgmpy.readwrite import BIFReader
    except ImportError:
        return {}
    text, found = gzip.decompress(path.read_bytes()).decode(), []
    time = seconds(lambda: found.append(BIFReader(string=text)))
    reader, largest = found[0], 0.0
    for name in network.names:
        assert tuple(reader.variable_states[name]) == network.structure.states(name)
        assert tuple(reader.variable_parents[name]) == network.structure.parents(name)
        table = network.cpd(name)
        theirs = reader.variable_cpds[name].T.reshape(table.shape)
        largest = max(largest, float(np.abs(theirs - table).max()))
    return {"pgmpy reads": time, "difference": largest}


if __name__ == "__main__":
    actions = {"files": compare_files}
    for name in sys.argv[1:] or list(actions):
        if name not in actions:
            raise SystemExit(f"expected one of {', '.join(actions)}, got {name}")
        actions[name]()
