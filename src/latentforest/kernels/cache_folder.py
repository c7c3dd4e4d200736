"""Where compiled code is kept when neither the package's folder nor the home folder can be written.

Normally numba finds a place itself. If it finds none, a folder for temporary files takes its
place, which is said once.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from numba.core import config

from latentforest.announcements import announce

_VARIABLE = "NUMBA_CACHE_DIR"


def is_about_cache(error: RuntimeError) -> bool:
    """Whether numba says that it has no place for compiled code."""
    return "cannot cache function" in str(error)


def use_temporary_folder() -> bool:
    """Let numba keep compiled code in a folder for temporary files; false if there is none."""
    why = "neither the folder of the package nor the home folder can be written"
    try:
        folder = find_private_folder()
    except OSError as error:
        announce(
            f"compiled kernels are not kept: {why}, and no temporary folder either "
            f"({error.strerror}); set {_VARIABLE} to a folder"
        )
        return False
    config.CACHE_DIR = os.environ[_VARIABLE] = str(folder)  # numba reads either, when it likes
    announce(f"compiled kernels are kept in {folder}: {why}; {_VARIABLE} chooses another folder")
    return True


def find_private_folder() -> Path:
    """Find a folder of this user alone: compiled code of somebody else must not be run."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"latentforest-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if _is_private(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="latentforest-"))


def _is_private(folder: Path) -> bool:
    """Whether it is a folder, no link, that belongs to this user and that nobody else may write."""
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode):
        return False
    return not hasattr(os, "getuid") or (
        about.st_uid == os.getuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
