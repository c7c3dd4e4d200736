"""Compiled code where neither the package's folder nor the home folder can be written."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from latentforest.kernels import cache_folder

KERNEL = """
from latentforest.kernels.compilation import kernel

@kernel
def add_one(x):
    return x + 1
"""
# The package's folder is writable here, and root may write anywhere: let numba think otherwise.
SCRIPT = """
from numba.core import caching

def refuse(self):
    raise PermissionError(13, "Permission denied")

for name in dir(caching):
    if name.startswith("InTree"):
        getattr(caching, name).ensure_cache_path = refuse
from one_kernel import add_one
print(add_one(1))
"""


def run(folder, **variables):
    """Run a kernel in a process without a home folder."""
    (folder / "one_kernel.py").write_text(KERNEL)
    here = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    paths = os.pathsep.join([str(folder), *sys.path])
    nowhere = {
        "HOME": "/dev/null",
        "XDG_CACHE_HOME": "/dev/null/cache",
        "LOCALAPPDATA": "/dev/null",
    }
    environment = here | nowhere | {"PYTHONPATH": paths} | variables
    command = [sys.executable, "-c", SCRIPT]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs a path that can be no folder")
def test_a_temporary_folder_is_used_and_named(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    for _ in range(2):  # the second time, the folder is there already
        result = run(tmp_path, TMPDIR=str(temporary))
        assert result.stdout == "2\n", result.stderr
        (folder,) = temporary.iterdir()
        assert f"compiled kernels are kept in {folder}: neither the folder of" in result.stderr
        assert "Traceback" not in result.stderr
    assert list(folder.rglob("*.nbi"))


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs a path that can be no folder")
def test_without_any_folder_kernels_work_all_the_same(tmp_path, monkeypatch):
    script = SCRIPT.replace(
        "from one_kernel",
        "import tempfile; tempfile.mkdtemp = tempfile.gettempdir = refuse_all\nfrom one_kernel",
    )
    refusal = "def refuse_all(*_, **__):\n    raise OSError(30, 'Read-only file system')\n"
    monkeypatch.setattr(sys.modules[__name__], "SCRIPT", refusal + script)
    result = run(tmp_path)
    assert result.stdout == "2\n", result.stderr
    assert "compiled kernels are not kept" in result.stderr


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users")
def test_the_folder_of_somebody_else_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = cache_folder.find_private_folder()
    assert mine == cache_folder.find_private_folder()
    mine.chmod(0o777)
    assert cache_folder.find_private_folder() != mine
    mine.rmdir()
    mine.symlink_to(tmp_path)
    assert cache_folder.find_private_folder() != mine
