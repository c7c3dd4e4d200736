"""``latentforest plot``: pictures in files, by the rules of all commands."""

import sys

import pytest

import latentforest as lf

KINDS = {
    "tree": [],
    "profile": [],
    "residuals": ["role-conflict"],
    "posterior": ["role-conflict"],
    "compare": ["role-conflict"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(run, model, tmp_path, kind):
    out = tmp_path / "picture.svg"
    result = run("plot", kind, model, *KINDS[kind], "--out", out)
    assert "picture written to" in result.stderr
    assert out.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_other_files(run, model, tmp_path, suffix, start):
    out = tmp_path / f"picture.{suffix}"
    run("plot", "profile", model, "role-conflict", "--latent", "class", "--out", out)
    assert out.read_bytes().startswith(start)


def test_kinds_that_need_more(run, tmp_path):
    data = lf.datasets.load("role-conflict")
    paths = [tmp_path / "two.json", tmp_path / "three.json"]
    for path, k in zip(paths, ((1, 2), 3), strict=True):
        lf.LatentClass(k, random_state=0).fit(data).network_.save(path)
    run("plot", "elbow", paths[0], "--criterion", "aic", "--out", tmp_path / "a.svg")
    alluvial = ["plot", "alluvial", paths[0], "role-conflict", "--other", paths[1]]
    run(*alluvial, "--out", tmp_path / "b.svg")
    run(*alluvial, "--latent", "class", "--latent", "class", "--out", tmp_path / "c.svg")
    run(
        "plot",
        "posterior",
        paths[0],
        "--set",
        "A=+",
        "--set",
        '"B"="-"',
        "--out",
        tmp_path / "d.svg",
    )
    lf.EAST(random_state=0).fit(data).network_.save(tmp_path / "tree.json")
    run("plot", "history", tmp_path / "tree.json", "--out", tmp_path / "e.svg")
    assert all((tmp_path / f"{name}.svg").stat().st_size > 1000 for name in "abcde")


def test_nothing_is_overwritten_unasked(run, model, tmp_path):
    out = tmp_path / "picture.svg"
    out.write_text("mine")
    assert "--force replaces it" in run("plot", "tree", model, "--out", out, code=2).stderr
    assert out.read_text() == "mine"
    run("plot", "tree", model, "--out", out, "--force")
    assert out.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tree", "role-conflict"], "tree takes no table"),
        (["residuals"], "residuals needs a table"),
        (["tree", "--latent", "class"], "it is for profile and alluvial, not for tree"),
        (["profile", "--set", "A=1"], "it is for posterior, not for profile"),
        (["posterior", "--set", "A"], "got 'A', expected NAME=VALUE"),
        (["posterior", "role-conflict", "--set", "A=+"], "choose between a table and values"),
        (["alluvial", "role-conflict", "--latent", "class"], "alluvial takes two, or none"),
        (["cloud"], "cloud"),
    ],
)
def test_wrong_usage(run, model, tmp_path, arguments, message):
    kind, *others = arguments
    result = run("plot", kind, model, *others, "--out", tmp_path / "x.svg", code=2)
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["elbow"], "expected one that was fitted with several numbers of classes"),
        (["alluvial", "role-conflict"], "another model of the same rows (--other)"),
        (["profile", "--latent", "A"], "'A' is not a latent variable"),
        (["posterior", "--set", "A=maybe"], "maybe"),
    ],
)
def test_what_a_model_cannot_show(run, model, tmp_path, arguments, message):
    kind, *others = arguments
    result = run("plot", kind, model, *others, "--out", tmp_path / "x.svg", code=1)
    assert message in result.stderr


def test_missing_matplotlib(run, model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("plot", "tree", model, "--out", tmp_path / "x.svg", code=1)
    assert "pip install 'latentforest[plots]'" in result.stderr


def test_only_pictures_are_written(run, model, tmp_path):
    result = run("plot", "tree", model, "--out", tmp_path / "x.bmp", code=2)
    assert "the name must end in .svg or .png or .pdf" in result.stderr
