"""Code in a report: it runs, and gives the model again."""

import pytest

import latentforest as lf

DATA = lf.datasets.load("hiv-tests")


def write_model(model, data=DATA):
    """The line of code that learns a model."""
    return lf.report(model, data).content["reproduce"]["python"].split("\n")[2]


@pytest.mark.parametrize(
    ("n_states", "text"),
    [
        ([1, 3], "[1, 3]"),
        ((1, 3), "(1, 3)"),
        (range(1, 4), "[1, 2, 3]"),
        ([2], "[2]"),
    ],
)
def test_a_range_is_not_a_list_of_choices(n_states, text, tmp_path):
    model = lf.LatentClass(n_states, n_starts=2, random_state=0).fit(DATA)
    code = f"model = lf.LatentClass(n_starts=2, n_states={text}, random_state=0).fit(data)"
    assert write_model(model) == code
    model.network_.save(tmp_path / "model.json")
    assert write_model(lf.load(tmp_path / "model.json")) == code


def test_settings_that_must_be_given():
    model = lf.ConfirmatoryModel("X[2] -> A, B, C, D", n_starts=2, random_state=0).fit(DATA)
    names = {"lf": lf, "data": DATA}
    exec(write_model(model), names)
    assert names["model"].bic_ == model.bic_


def test_a_learner_that_starts_a_search():
    start = lf.LatentClass([1, 2], n_starts=2)
    model = lf.EAST(start=start, max_steps=1, random_state=0).fit(DATA)
    assert "start=lf.LatentClass(n_starts=2, n_states=[1, 2])" in write_model(model)


def test_a_network_that_starts_a_search():
    start = lf.LatentClass(2, n_starts=2, random_state=0).fit(DATA).network_
    model = lf.EAST(start=start, max_steps=1, random_state=0).fit(DATA)
    assert 'start=lf.load("start.json")' in write_model(model)


def test_how_the_table_was_read_is_part_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.csv").write_text("a,b,n\nx,u,2\nx,v,3\ny,v,1\n")
    data = lf.read("some.csv", recipe=lf.Recipe(weight="n"))
    model = lf.Independence().fit(data)
    code = lf.report(model, "some.csv").content["reproduce"]["python"]
    assert "lf.read('some.csv', recipe=lf.Recipe(weight='n'))" in code
    names = {}
    exec(code, names)
    assert names["model"].bic_ == model.bic_


def test_weights_that_have_no_name_are_told():
    model = lf.Independence().fit({"a": ["x", "y", "y"]}, sample_weight=[2.0, 1.0, 1.5])
    code = lf.report(model).content["reproduce"]["python"]
    assert "lf.read('table.csv')  # and the weights of its rows" in code
