"""What a person sees of a fitted learner: text, notebooks, profiles, posteriors, hints."""

import numpy as np
import pytest

import latentforest as lf
from latentforest.errors import ModelError, ParameterError
from latentforest.learners.common.notes import note_edge_of_range, note_full_states

DATA = lf.datasets.load("role-conflict")


@pytest.fixture(scope="module")
def model():
    return lf.LatentClass((1, 2), random_state=0).fit(DATA)


def test_printing_shows_profiles_and_hints(model):
    text = str(model)
    assert text.startswith("LatentClass: log-likelihood -504.47, 9 parameters, BIC -528.66\nclass")
    assert "Probability of each value in each state of class" in text
    assert "D       -      0.69  0.87  0.23" in text
    assert text.splitlines()[-1].startswith("Note: 2 classes are the most that were tried")
    assert "Probability of each value" in str(lf.Predictor(model.network_))


def test_many_latent_variables_are_shown_in_part():
    names = [f"Y{k}" for k in range(5)]
    columns = [lf.Variable(f"X{k}", ("a", "b")) for k in range(5)]
    tables = {name: [0.5, 0.5] for name in names} | {
        each.name: [[0.9, 0.1], [0.2, 0.8]] for each in columns
    }
    parents = dict(zip([each.name for each in columns], names, strict=True))
    latents = [lf.Variable.hidden(name, 2) for name in names]
    network = lf.Network.from_tables([*latents, *columns], parents, tables)
    assert "Shown: 3 of 5 latent variables. profiles() has all." in str(lf.Predictor(network))
    assert network.profiles()["latent"][::3] == names
    assert network.profiles("Y1").columns == ("column", "value", "bits", "all", "1", "2")
    assert network.profiles("Y1", ["X2"])["bits"][1] == pytest.approx(0, abs=1e-12)
    with pytest.raises(ModelError, match="'X1' is not a latent variable"):
        network.profiles("X1")


def test_notebooks(model):
    page = model._repr_mimebundle_()["text/html"]
    assert "log-likelihood -504.47" in page
    assert "States of class" in page
    assert "Note" not in lf.LatentClass(2)._repr_mimebundle_()["text/html"]
    odd = model.network_.renamed({"A": "<script>", "class": "<i>"})
    assert "<script>" not in odd._repr_html_()
    assert "<i>" not in odd._repr_html_()


def test_posteriors_by_name(model):
    found = model.posteriors(DATA)
    np.testing.assert_array_equal(found["class"], model.predict_proba(DATA))
    assert lf.ChowLiu().fit(DATA).posteriors(DATA) == {}


def test_posteriors_given_some_columns(model):
    row = DATA.take([0])
    found = model.posteriors(row, given=["A", "C"])["class"][0]
    values = {name: row.decode(name)[0] for name in ("A", "C")}
    np.testing.assert_allclose(found, model.network_.query("class", values), rtol=1e-12)
    some = model.posteriors({"A": [values["A"]], "C": [values["C"]]}, given=["A", "C"])
    np.testing.assert_array_equal(some["class"][0], found)
    with pytest.raises(ParameterError, match="there is no column 'E'; columns are A, B, C, D"):
        model.posteriors(row, given=["E"])
    with pytest.raises(ParameterError, match="at least one column"):
        model.posteriors(row, given=[])


def test_every_learner_says_how_long_it_took(model):
    assert isinstance(model.seconds_, float)
    assert model.seconds_ > 0


def test_a_number_of_classes_at_the_edge_of_its_range(model):
    assert model.notes_ == model.fit_table_.notes
    assert "(n_states=(1, 4), --states 1:4)" in model.notes_[0]
    assert lf.LatentClass(2, random_state=0).fit(DATA).notes_ == ()
    assert lf.LatentClass((1, 3), random_state=0).fit(DATA).notes_ == ()
    greedy = lf.LatentClass(max_states=2, random_state=0).fit(DATA)
    assert "--max-states 4" in greedy.notes_[0]
    assert "fewest" in note_edge_of_range(2, [2, 3], [2, 3], False)[0]
    assert note_edge_of_range(2, [1, 2], [1, 2, 3], False) == []  # ended early


def test_latent_variables_with_all_states_that_are_allowed(model):
    assert note_full_states(model.network_, 3) == note_full_states(model.network_, None) == []
    assert note_full_states(model.network_, 2)[0].startswith("class has 2 states, the most that")


def test_answers_are_labelled(model):
    table = model.network_.cpd("A")
    assert [axis.name for axis in table.axes] == ["class", "A"]
    assert type(model.network_.table_view("A")) is np.ndarray
    answer = model.network_.query("class", {"A": "+"})
    assert answer.title == "P(class | A = +)"
    assert answer.to_pandas().index.tolist() == ["1", "2"]


def test_labels_of_continuous_tables():
    parts = [lf.Variable("x"), lf.Variable("y")]
    tables = {"x": [1.0, 2.0], "y": [0.5, 2.0, 1.0]}
    network = lf.Network.from_tables(parts, {"y": "x"}, tables)
    assert network.cpd("y").axes[-1].labels == ("intercept", "slope of x", "variance")
    assert network.cpd("x").to_table().columns == ("x", "value")
