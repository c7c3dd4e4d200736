"""Benchmarks: numbers against cross-validation, failures, interruptions, resuming."""

import json
import math

import numpy as np
import pytest

from latentforest import (
    ChowLiu,
    Dataset,
    Independence,
    LatentClass,
    benchmark,
    cross_validate,
    datasets,
)
from latentforest.errors import FileFormatError, LockedError, ParameterError
from latentforest.locks import FileLock

DATA = datasets.load("role-conflict")


class Fails(ChowLiu):
    """Fails where a fold is held out, or at once."""

    def fit(self, X, y=None, sample_weight=None):
        raise ParameterError("it is what it is")


class Stops(ChowLiu):
    """Is interrupted at the fits that are numbered."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        type(self).fits += 1
        super().fit(X, y, sample_weight)
        self.interrupted_ = type(self).fits == 3
        return self


def test_the_means_are_those_of_cross_validation():
    result = benchmark(DATA, "chow-liu, latent-class:n_states=2", folds=4, random_state=3)
    for learner in (ChowLiu(), LatentClass(2, random_state=3), Independence()):
        wanted = cross_validate(learner, DATA, 4, random_state=3).mean_per_row
        place = [name.split(":")[0] for name in result.table["learner"]].index(
            {"ChowLiu": "chow-liu", "LatentClass": "latent-class"}.get(
                type(learner).__name__, "independence"
            )
        )
        assert result.table["per_row"][place] == pytest.approx(wanted, abs=1e-9)


def test_the_table_is_sorted_and_says_what_the_models_are():
    result = benchmark(DATA, {"two": LatentClass(2), "tree": ChowLiu()}, folds=3)
    table = result.table
    assert table["per_row"] == sorted(table["per_row"], reverse=True)
    assert table["difference"][0] == 0
    assert max(table["difference"][1:]) < 0
    whole = LatentClass(2, random_state=0).fit(DATA)
    place = table["learner"].index("two")
    assert table["bic"][place] == pytest.approx(whole.bic_)
    assert (table["n_parameters"][place], table["n_latents"][place]) == (9, 1)
    assert len(result.folds) == 9
    assert "predicts held-out rows best" in result.notes[0]


def test_rows_are_dealt_out_at_random():
    sorted_rows = Dataset.from_table({"a": ["x"] * 30 + ["y"] * 30, "b": ["u", "v"] * 30})
    result = benchmark(sorted_rows, "chow-liu", folds=2)
    assert min(result.folds["per_row"]) > -1.6  # contiguous folds would see a state no more


def test_a_learner_that_fails_is_a_row():
    result = benchmark(DATA, {"bad": Fails(), "tree": ChowLiu()}, folds=2)
    assert result.table["learner"][-1] == "bad"
    assert result.table["error"] == [None, None, "it is what it is"]
    assert math.isnan(result.table["per_row"][-1])
    assert "'bad' failed: it is what it is" in result.notes
    assert "'bad' failed" in str(result)


def test_a_learner_that_cannot_take_the_table_does_not_end_it():
    gaps = {"a": ["x", "y", None, "x"] * 5, "b": ["u", "v", "u", "v"] * 5}
    result = benchmark(gaps, "bayesian-network,chow-liu", folds=2)
    assert "missing values" in result.table["error"][-1]
    assert result.n_folds == 2


def test_an_interruption_keeps_complete_folds(tmp_path):
    Stops.fits = 0
    path = tmp_path / "fits.jsonl"
    result = benchmark(DATA, {"stops": Stops()}, folds=3, checkpoint=path)
    assert (result.interrupted, result.n_folds) == (True, 1)
    assert result.notes[0] == "Interrupted: 1 of 3 folds are complete."
    again = benchmark(DATA, {"stops": Stops()}, folds=3, checkpoint=path, resume=True)
    assert (again.interrupted, again.n_folds) == (False, 3)
    assert Stops.fits == 5  # one was lost
    through = benchmark(DATA, {"stops": Stops()}, folds=3)
    assert again.table["per_row"] == through.table["per_row"]
    assert again.table["p"][1] == through.table["p"][1]


def test_an_interruption_before_anything_is_one(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Independence, "fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        benchmark(DATA, "chow-liu", folds=2)


def test_an_interruption_in_the_first_fold_says_what_is_there():
    Stops.fits = 1
    result = benchmark(DATA, {"stops": Stops()}, folds=3)
    assert result.n_folds == 0
    assert len(result.folds) == 0
    assert [math.isnan(value) for value in result.table["per_row"]] == [True, True]
    assert json.dumps(result.to_dict(), allow_nan=False)


def test_other_learners_may_join_later(tmp_path):
    path = tmp_path / "fits.jsonl"
    benchmark(DATA, "chow-liu", folds=2, checkpoint=path)
    n_fits = len(path.read_text().splitlines()) - 1
    result = benchmark(DATA, "chow-liu,bin", folds=2, checkpoint=path, resume=True)
    assert len(result.table) == 3
    assert (n_fits, len(path.read_text().splitlines()) - 1) == (6, 9)


def test_what_failed_is_tried_again(tmp_path):
    path = tmp_path / "fits.jsonl"
    benchmark(DATA, {"bad": Fails()}, folds=2, checkpoint=path)
    lines = path.read_text().splitlines()
    benchmark(DATA, {"bad": Fails()}, folds=2, checkpoint=path, resume=True)
    assert len(path.read_text().splitlines()) == len(lines) + 1


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    path = tmp_path / "fits.jsonl"
    benchmark(DATA, "chow-liu", folds=2, checkpoint=path)
    with pytest.raises(ParameterError, match=r"another benchmark: its seed is 0, not 1"):
        benchmark(DATA, "chow-liu", folds=2, random_state=1, checkpoint=path, resume=True)
    with pytest.raises(ParameterError, match=r"another benchmark: its folds is 2, not 3"):
        benchmark(DATA, "chow-liu", folds=3, checkpoint=path, resume=True)
    with pytest.raises(ParameterError, match=r"another benchmark: its data"):
        benchmark(datasets.load("hiv-tests"), "chow-liu", folds=2, checkpoint=path, resume=True)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="not the checkpoint of a benchmark"):
        benchmark(DATA, "chow-liu", folds=2, checkpoint=path)


def test_a_checkpoint_in_use_is_refused(tmp_path):
    lock = FileLock(tmp_path / "fits.jsonl")
    with pytest.raises(LockedError):
        benchmark(DATA, "chow-liu", folds=2, checkpoint=tmp_path / "fits.jsonl")
    lock.release()


def test_impossible_rows_are_said():
    data = {"a": ["x", "y", "z", "z"] * 5 + ["w"], "b": ["u", "v", "u", "v"] * 5 + ["u"]}
    plain = {"none": ChowLiu(smoothing="none"), "auto": ChowLiu()}
    result = benchmark(data, plain, folds=3)
    place = result.table["learner"].index("none")
    assert result.table["per_row"][place] == -math.inf
    assert result.table["impossible_rows"][place] == 1
    assert "Under 'none', 1 of the held-out rows cannot occur." in result.notes
    assert result.to_dict()["learners"][place]["per_row"] is None


def test_weights_and_labels_of_folds():
    weighted = DATA.with_weights(DATA.weights / 2)
    labels = np.arange(DATA.n_rows) % 2
    result = benchmark(weighted, "chow-liu", folds=labels)
    assert sum(result.folds["observations"][:2]) == pytest.approx(DATA.total_weight / 2)


def test_learners_that_say_the_same():
    result = benchmark(DATA, {"one": ChowLiu(), "two": ChowLiu(max_iterations=77)}, folds=2)
    assert "The same but for rounding: 'two'." in result.notes


@pytest.mark.parametrize("folds", [1, 1000])
def test_folds_that_make_no_sense(folds):
    with pytest.raises(ParameterError, match="folds must be between 2 and"):
        benchmark(DATA, "chow-liu", folds=folds)


def test_it_is_written_as_any_table(tmp_path):
    result = benchmark(DATA, {"a|b": ChowLiu()}, folds=2)
    assert "| a\\|b " in result.to("markdown")
    result.to(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().startswith("learner,per_row,standard_error")


def test_one_pair_of_learners_needs_no_correction():
    data = {"a": ["x", "y"] * 10, "b": ["u", "u", "v", "v"] * 5}
    assert "Holm" not in " ".join(benchmark(data, [ChowLiu()], folds=2).notes)
    assert "all 3 pairs" in " ".join(benchmark(data, [ChowLiu(), LatentClass(2)], folds=2).notes)
