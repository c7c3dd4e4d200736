"""Every command that takes a model takes a BIF file, too."""

import pytest

import latentforest as lf


@pytest.mark.parametrize("suffix", ["bif", "bif.gz"])
def test_learn_writes_what_the_other_commands_read(run, tmp_path, suffix):
    path, plain = tmp_path / f"model.{suffix}", tmp_path / "model.json"
    for out in (path, plain):
        run("learn", "hiv-tests", "--states", "2", "--quiet", "--out", out)
    assert lf.load(path) == lf.load(plain).with_predictive(None)  # which BIF does not hold
    lf.load(path).save(plain)
    for name, *rest in (["show"], ["score", "hiv-tests"], ["predict", "hiv-tests"], ["sample", 5]):
        printed = [run(name, each, *rest).stdout for each in (path, plain)]
        assert printed[0] == printed[1].replace("model.json", path.name)


def test_a_search_starts_from_a_bif_file(run, tmp_path):
    start, out = tmp_path / "start.bif", tmp_path / "out.json"
    run("learn", "hiv-tests", "--states", "2", "--quiet", "--out", start)
    run("learn", "hiv-tests", "--learner", "east", "--start", start, "--quiet", "--out", out)
    assert lf.load(out).observed


def test_continuous_columns_are_refused_before_the_work(run, survey, tmp_path):
    result = run("learn", survey, "--quiet", "--out", tmp_path / "model.bif", code=1)
    assert (
        ".bif files hold categorical variables only, and these are continuous: 'height'"
        in result.stderr
    )


def test_a_bad_file_is_named_with_the_line(run, tmp_path):
    path = tmp_path / "model.bif"
    path.write_text("network x {\n}\nnode y {\n}\n")
    result = run("show", path, code=1)
    assert "model.bif, line 3: expected 'network', 'variable' or 'probability'" in result.stderr


def test_converting(run, tmp_path):
    run("learn", "hiv-tests", "--states", "2", "--quiet", "--out", tmp_path / "model.json")
    result = run("convert", tmp_path / "model.json", tmp_path / "model.xdsl")
    assert "5 variables written to" in result.stderr
    run("convert", tmp_path / "model.xdsl", tmp_path / "again.json")
    shown = [run("show", tmp_path / name).stdout for name in ("model.json", "model.xdsl")]
    assert shown[0] == shown[1]
    result = run("convert", tmp_path / "model.json", tmp_path / "model.uai")
    assert (
        "does not keep the parameters for new rows, the names of variables and states and which"
        in result.stderr
    )


def test_converting_to_an_unknown_format(run, tmp_path):
    run("learn", "hiv-tests", "--states", "2", "--quiet", "--out", tmp_path / "model.json")
    result = run("convert", tmp_path / "model.json", tmp_path / "model.xyz", code=2)
    assert "must end in .json" in result.stderr
