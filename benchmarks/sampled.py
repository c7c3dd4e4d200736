"""Who runs while EAST searches COIL-42: our kernels, NumPy, or the interpreter.

``python benchmarks/sampled.py [8 20]``, with ``py-spy`` installed, which looks a hundred times a
second where the process is. What is in neither (memory, exponentials) counts for whoever called it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from common import print_table

WHO = (
    ("kernels", re.compile(r"^0x[0-9a-f]+ \(\?\)$")),  # compiled at run time: no file
    ("NumPy", re.compile(r"numpy/[^()]*\.so\)$|numpy\.libs|openblas")),
    (
        "interpreter",
        re.compile(r"\.py:\d+\)$|<string>:\d+\)$|libpython|/python[\d.]*\)$|\.[ch]:\d+\)$"),
    ),
)


def search(mu: int, nu: int) -> None:
    """Search once; this is what is watched."""
    from common import read_shared
    from east import warm_up
    from latentforest import EAST

    warm_up()
    EAST(mu=mu, nu=nu, n_jobs=1, random_state=0).fit(read_shared("discrete/coil_42.arff"))


def read_stacks(path: Path) -> Iterator[tuple[list[str], int]]:
    """Stacks below the search, outermost first, and how often each was seen."""
    for line in path.read_text().splitlines():
        stack, count = line.rsplit(" ", 1)
        if "NetworkLearner.fit" in stack and "warm_up" not in stack:
            yield stack.split(";"), int(count)


def find_who(stack: list[str]) -> str:
    """Who runs: the innermost frame that says."""
    for frame in reversed(stack):
        for who, pattern in WHO:
            if pattern.search(frame):
                return who
    return "other"


def watch(mu: int, nu: int) -> None:
    """Watch a search and print the shares."""
    if shutil.which("py-spy") is None:
        raise SystemExit("py-spy is not installed: pip install py-spy")
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "samples.txt"
        command = ["py-spy", "record", "--native", "-r", "100", "-f", "raw", "-o", str(samples)]
        script = [sys.executable, __file__, "search", str(mu), str(nu)]
        subprocess.run([*command, "--", *script], check=True)
        seen: Counter[str] = Counter()
        for stack, count in read_stacks(samples):
            seen[find_who(stack)] += count
    total = sum(seen.values())
    rows = [{"who": who, "share": f"{100 * n / total:.1f}%"} for who, n in seen.most_common()]
    print_table(f"COIL-42, EAST({mu}, {nu}), one thread: {total:,} samples", rows)


if __name__ == "__main__":
    *words, mu, nu = sys.argv[1:] or ["8", "20"]
    (search if words == ["search"] else watch)(int(mu), int(nu))
