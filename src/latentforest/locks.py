"""Locks between processes: who works on a file, so that no other process does the same.

The lock is one of the system, on a file beside the one that is protected. It ends with its
process, however that ends, so what a dead process left behind does not matter.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sys
import time
import warnings
from pathlib import Path

from latentforest.errors import LatentForestWarning, LockedError
from latentforest.files import find_target

_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_NOT_SUPPORTED = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
_PLACE = 1 << 20  # of the byte that is locked on Windows, behind all text


class FileLock:
    """The exclusive right to work on a file, until ``release`` or the end of the process.

    Parameters
    ----------
    path
        The file to work on. The lock is the file of the same name with ``.lock`` behind it,
        which is removed in the end.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "steps.jsonl"
    >>> lock = FileLock(path)
    >>> FileLock(path)
    Traceback (most recent call last):
        ...
    latentforest.errors.LockedError: ...steps.jsonl is in use by this process (since ...
    >>> lock.release()
    """

    def __init__(self, path: Path) -> None:
        target = find_target(path)
        self._path = path
        self._place = target.with_name(target.name + ".lock")
        self._handle: int | None = None
        while self._handle is None:
            handle = os.open(self._place, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                self._take(handle)
            except BaseException:
                os.close(handle)
                raise
            if _is_open_at(handle, self._place):
                self._handle = handle
            else:  # the one who held it removed the file meanwhile
                os.close(handle)
        _write_owner(self._handle)

    def __del__(self) -> None:
        self.release()

    def release(self) -> None:
        """Give the right back."""
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is None:
            return
        if os.name == "nt":  # an open file cannot be removed there
            os.close(handle)
            with contextlib.suppress(OSError):
                self._place.unlink()
            return
        with contextlib.suppress(OSError):
            self._place.unlink()
        os.close(handle)

    def _take(self, handle: int) -> None:
        try:
            _lock(handle)
        except OSError as error:
            if error.errno in _HELD:
                raise LockedError(
                    f"{self._path} is in use by {_read_owner(handle)}; wait for its end, or choose "
                    "another file"
                ) from None
            if error.errno not in _NOT_SUPPORTED:
                raise
            warnings.warn(
                f"{self._path} cannot be locked ({error.strerror}); see to it that no other "
                "process uses it",
                LatentForestWarning,
                stacklevel=4,
            )


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, _PLACE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_open_at(handle: int, path: Path) -> bool:
    """Whether a file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _write_owner(handle: int) -> None:
    began = time.strftime("%Y-%m-%d %H:%M:%S")
    owner = {"pid": os.getpid(), "host": socket.gethostname(), "since": began}
    with contextlib.suppress(OSError):  # on a full disk, the message of another will be shorter
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, json.dumps(owner).encode())


def _read_owner(handle: int) -> str:
    """Say who holds the lock."""
    try:
        os.lseek(handle, 0, os.SEEK_SET)
        owner = json.loads(os.read(handle, 4096))
        pid, host, since = owner["pid"], owner["host"], owner["since"]
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    if host != socket.gethostname():
        return f"process {pid} on {host} (since {since})"
    return f"{'this process' if pid == os.getpid() else f'process {pid}'} (since {since})"
