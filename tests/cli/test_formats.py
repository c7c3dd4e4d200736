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
    assert "variable 'height' is continuous, and .bif files hold categorical" in result.stderr


def test_a_bad_file_is_named_with_the_line(run, tmp_path):
    path = tmp_path / "model.bif"
    path.write_text("network x {\n}\nnode y {\n}\n")
    result = run("show", path, code=1)
    assert "model.bif, line 3: expected 'network', 'variable' or 'probability'" in result.stderr
