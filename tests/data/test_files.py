import os
from pathlib import Path

import pytest

from latentforest.files import open_atomically, write_atomically


def test_text_and_bytes_are_written_as_they_are(tmp_path):
    path = tmp_path / "f"
    write_atomically(path, "é\r\n")
    assert path.read_bytes() == "é\r\n".encode()
    write_atomically(path, b"\x00")
    assert path.read_bytes() == b"\x00"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(TypeError), open_atomically(path) as file:
        file.writelines(["new", 1])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX systems")
def test_permissions(tmp_path):
    path, plain = tmp_path / "f", tmp_path / "plain"
    plain.touch()
    write_atomically(path, "x")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    write_atomically(path, "y")
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links and devices")
def test_links_and_devices_stay_what_they_are(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    write_atomically(os.devnull, "x")
    assert not Path(os.devnull).is_file()


def test_bad_targets(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder .*none does not exist"):
        write_atomically(tmp_path / "none" / "f", "x")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        write_atomically(tmp_path, "x")
