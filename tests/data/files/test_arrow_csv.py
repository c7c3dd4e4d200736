"""Arrow and the careful reader give the same table, or the same error, on awkward files."""

import gzip
import io
import warnings
import zipfile

import numpy as np
import pyarrow as pa
import pytest

from latentforest.data import Variable, read
from latentforest.data.files import arrow_csv, csv_file
from latentforest.errors import FileFormatError, LatentForestError, ReadingWarning


@pytest.fixture(autouse=True)
def _small_files_are_large(monkeypatch):
    monkeypatch.setattr(csv_file, "_FIRST_ROWS", 2)
    monkeypatch.setattr(csv_file, "_PIECE", 2)
    monkeypatch.setattr(arrow_csv, "_BLOCK", 200)
    monkeypatch.setattr(arrow_csv, "_MANY_TEXTS", 30)


def outcome(path, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            data = read(path, **options)
        except (LatentForestError, OSError) as error:
            return str(error), None
    told = [str(warning.message) for warning in caught]
    return told, (data.variables, [c.tolist() for c in data.columns], data.weights.tolist())


def compare(path, monkeypatch, **options):
    """Read both ways; returns whether Arrow read the file to the end."""
    used = []

    def spy(*args):
        used.append(arrow_csv.read_with_arrow(*args))
        return used[-1]

    monkeypatch.setattr(csv_file, "read_with_arrow", spy)
    monkeypatch.setattr(csv_file, "_LARGE", 0)
    fast = outcome(path, **options)
    monkeypatch.setattr(csv_file, "_LARGE", 1 << 60)
    careful = outcome(path, **options)
    assert repr(fast) == repr(careful)  # repr: NaN equals NaN
    return bool(used) and used[0] is not None


BODY = "".join(f"{'xyz'[i % 3]},{i / 7:.4f},{i % 5}\n" for i in range(60))
HEAD = "a,b,c\n"
FAST = {
    "plain": HEAD + BODY,
    "no final newline": HEAD + BODY.rstrip(),
    "line ends of Windows": (HEAD + BODY).replace("\n", "\r\n"),
    "line ends of old Macs": (HEAD + BODY).replace("\n", "\r"),
    "byte order mark": "\ufeff" + HEAD + BODY,
    "blank lines": "\n\n" + HEAD + "\n" + BODY.replace("\n", "\n\n"),
    "quotes": HEAD + BODY.replace("x,", '"x, ""q""",'),
    "line ends in quotes": HEAD + BODY.replace("x,", '"x\r\ny\n",'),
    "line end in the header": 'a,"b\nb",c\n' + BODY,
    "quotes amid values": HEAD + BODY.replace("x,", 'x"y,').replace("z,", '"z"w,'),
    "an open quote at the end": HEAD + BODY + 'x,1,"open\n',
    "spaces": HEAD + BODY.replace("x,", " x ,").replace(",1\n", ", 1 \n"),
    "other spaces": HEAD + BODY.replace("x,", "\u00a0x\u2003,").replace(",1\n", ",\x1c1\n"),
    "missing": HEAD + BODY.replace("x,", "NA,").replace(",1\n", ",\n") + "y,NaN,?\n",
    "spaces around missing": HEAD + BODY + "x, NA ,1\n",
    "a text among numbers": HEAD + BODY + "x,tall,1\n",
    "codes with zeros": HEAD + "".join(f"{i:03},{i}.50,{i % 3}\n" for i in range(60)),
    "late codes with zeros": HEAD + BODY + "x,007,1\n",
    "large whole numbers": HEAD + "".join(f"x,{2**60 + i},{i % 3}\n" for i in range(60)),
    "infinite": HEAD + BODY + "x,inf,1\n",
    "not a number": HEAD + BODY + "x,nan,1\n",
    "exponents and signs": HEAD + BODY + "x,1e-3,1\nx,+2.5,1\nx,-0,1\nx,.5,1\nx,5.,1\n",
    "underscores": HEAD + BODY + "x,1_000,1\n",
    "zero bytes": HEAD + BODY + "x\0y,1,1\n",
    "a row longer than a block": HEAD + BODY + f"{'x' * 150},1,2\n",
    "row names": "," + HEAD + "".join(f"{i},{line}\n" for i, line in enumerate(BODY.split())),
    "row names of R": HEAD + "".join(f'"{i}",{line}\n' for i, line in enumerate(BODY.split())),
    "semicolons": (HEAD + BODY).replace(",", ";").replace(".", ","),
}
CAREFUL = {
    "a short row": HEAD + BODY + "x,1\n" + BODY,
    "a long row": HEAD + BODY + "x,1,2,3\n" + BODY,
    "a line of spaces": HEAD + BODY + "   \n" + BODY,
    "a huge field": HEAD + BODY + f"{'x' * 5000},1,2\n" + BODY,
    "a single column": "a\n" + "x\n\ny\n" * 40 + "\n\n",
    "bytes that are not UTF-8": (HEAD + BODY).encode() + b"Jos\xe9,1,2\n",
    "names twice": "a,b,a\n" + BODY,
    "no name": "a,,c\n" + BODY,
    "a delimiter behind the header": "a,b,c,\n" + BODY,
    "a delimiter behind each row": HEAD + BODY.replace("\n", ",\n"),
    "repeated row names": HEAD + "".join(f"{i % 7},{x}\n" for i, x in enumerate(BODY.split())),
}


@pytest.mark.parametrize("name", [*FAST, *CAREFUL])
@pytest.mark.parametrize("block", [200, 1 << 20])
def test_both_readers_agree(tmp_path, monkeypatch, name, block):
    monkeypatch.setattr(arrow_csv, "_BLOCK", block)
    content = {**FAST, **CAREFUL}[name]
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    by_arrow = compare(path, monkeypatch)
    if block > 200 and name not in ("a huge field",):
        assert by_arrow or name in CAREFUL


@pytest.mark.parametrize(
    "options",
    [
        {"kinds": "categorical"},
        {"kinds": {"b": "continuous", "c": "continuous"}},
        {"states": {"b": [f"{i / 7:.4f}" for i in range(60)]}},
        {"missing": ["0.0000", "x", "-9", "0.1429"]},
        {"missing": []},
        {"weights": "c"},
        {"columns": ["c", "a"]},
        {"exclude": ["b"]},
        {"like": [Variable("c", ("1", "0")), Variable("b")]},
        {"like": [Variable("b", tuple(f"{i / 7:.4f}" for i in range(50)))]},
        {"delimiter": ","},
    ],
)
def test_both_readers_agree_on_options(tmp_path, monkeypatch, options):
    path = tmp_path / "t.csv"
    path.write_text(HEAD + BODY)
    assert compare(path, monkeypatch, **options)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8"])
def test_encodings_and_compression(tmp_path, monkeypatch, encoding):
    content = (HEAD + BODY.replace("x,", "é,")).encode(encoding)
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("inner.csv", content)
    files = {
        "t.csv": content,
        "t.csv.gz": gzip.compress(content),
        "t.csv.zst": pa.compress(content, "zstd", asbytes=True),
        "t.zip": zipped.getvalue(),
        "plainly.csv": gzip.compress(content),  # the first bytes decide, not the name
    }
    for name, packed in files.items():
        (tmp_path / name).write_bytes(packed)
        told = encoding if encoding == "latin-1" else "utf-8"  # UTF-16 is seen from its mark
        assert compare(tmp_path / name, monkeypatch, encoding=told)
        assert read(tmp_path / name, encoding=told).variable("a").states == ("y", "z", "é")


def test_damaged_compression(tmp_path):
    packed = pa.compress((HEAD + BODY).encode(), "zstd", asbytes=True)
    (tmp_path / "t.csv.zst").write_bytes(packed[:-20])
    with pytest.raises(FileFormatError, match=r"t\.csv\.zst"):
        read(tmp_path / "t.csv.zst")


def test_utf_16_without_a_mark(tmp_path):
    (tmp_path / "t.csv").write_bytes((HEAD + BODY).encode("utf-16-le"))
    with pytest.raises(FileFormatError, match=r"zero bytes.*utf-16-le"):
        read(tmp_path / "t.csv")
    assert read(tmp_path / "t.csv", encoding="utf-16-le").names == ("a", "b", "c")


def test_row_names_are_not_data(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"","a"\n"1","x"\n"2","y"\n')
    with pytest.warns(ReadingWarning, match=r"first column has no name.*row names"):
        assert read(path).names == ("a",)


def test_many_numbers_become_floats_once(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "_LARGE", 0)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i}.50,{i}\n" for i in range(100)))
    data = read(path)
    np.testing.assert_array_equal(data.column("a"), np.arange(100) + 0.5)


def test_a_byte_order_mark_in_the_first_value_stays(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes("\ufeffa,b\n\ufeff,1\nx,2\n".encode() + b"x,1\n" * 2000)
    monkeypatch.setattr(csv_file, "_LARGE", 0)
    assert read(path).variable("a").states == ("x", "\ufeff")
