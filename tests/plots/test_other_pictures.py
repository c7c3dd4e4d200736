"""Elbow, search, residuals, certainty, answers, ribbons, comparison: what is drawn is true."""

import numpy as np
import pytest

import latentforest as lf
from latentforest import datasets, plots
from latentforest.errors import ModelError, ParameterError
from latentforest.model.pictures.numbers import write_share
from plots.boxes import check, texts_of

DATA = datasets.load("hiv-tests")


@pytest.fixture(scope="module")
def tree():
    network = datasets.random_latent_tree(12, depth=2, width=3, strength=0.9, random_state=0)
    return network, datasets.generate(network, 400, random_state=0)


def test_an_elbow(classes):
    ax = plots.elbow(classes)
    check(ax)
    assert ax.lines[0].get_ydata().tolist() == classes.history_["bic"]
    assert ax.lines[1].get_xdata().tolist() == [2]
    aic = plots.elbow(classes, criterion="aic")
    assert aic.lines[0].get_ydata().tolist() == classes.history_["aic"]


def test_an_elbow_from_a_file_and_with_a_line(classes, tmp_path):
    classes.network_.save(tmp_path / "model.json")
    ax = plots.elbow(tmp_path / "model.json", reference=lf.ChowLiu().fit(DATA))
    check(ax)
    assert any("ChowLiu" in text for text in texts_of(ax))
    assert "3" in texts_of(ax)


def test_what_has_no_elbow(classes):
    with pytest.raises(ParameterError, match="several numbers of classes"):
        plots.elbow(lf.LatentClass(2, random_state=0).fit(DATA))
    with pytest.raises(ParameterError, match="criterion: got 'x', expected one of log_likelihood"):
        plots.elbow(classes, criterion="x")
    with pytest.raises(ParameterError, match="reference: got LatentClass"):
        plots.elbow(classes, criterion="aic", reference=classes)


def test_a_search_step_by_step(tmp_path):
    model = lf.EAST(random_state=0).fit(DATA)
    ax = plots.history(model)
    check(ax)
    best, bic = -np.inf, []
    for value, accepted in zip(model.history_["bic"], model.history_["accepted"], strict=True):
        best = value if accepted else best
        bic.append(best)
    assert ax.lines[0].get_ydata().tolist() == pytest.approx(bic)
    n_refused = sum(not accepted for accepted in model.history_["accepted"])
    assert sum(len(line.get_xdata()) for line in ax.lines[1:]) == n_refused
    model.network_.save(tmp_path / "model.json")
    again = plots.history(tmp_path / "model.json")
    assert again.lines[0].get_ydata().tolist() == pytest.approx(bic)


def test_other_histories():
    check(plots.history(lf.BayesianNetworkSearch(random_state=0).fit(DATA)))
    with pytest.raises(ParameterError, match="its history has no score of steps"):
        plots.history(lf.HierarchicalLatentTree(random_state=0).fit(DATA))
    with pytest.raises(ParameterError, match="it has no history of a search"):
        plots.history(datasets.random_latent_class(3, 2, random_state=0))


@pytest.mark.parametrize("n", [2, 12, 60, 70])
def test_residuals_of_any_number_of_columns(n):
    network = datasets.random_latent_class(n, 2, random_state=0)
    ax = plots.residuals(network, datasets.generate(network, 300, random_state=1))
    check(ax)
    assert any("The 60 columns" in text for text in texts_of(ax)) == (n > 60)


def test_the_largest_residual_is_named():
    model = lf.Independence().fit(DATA)
    worst = next(lf.compute_bivariate_residuals(model.network_, DATA).rows())
    texts = texts_of(plots.residuals(model, DATA))
    at = texts.index("residual")
    assert {texts[at + 1], texts[at + 2]} == {worst["first"], worst["second"]}
    assert texts[at + 3] == f"{worst['residual']:.1f}"


def test_residuals_need_two_way_tables(mixed):
    with pytest.raises(ModelError, match="takes two categorical columns; the model has 1"):
        plots.residuals(mixed, mixed.sample(50, random_state=0))


def test_certainty_counts_rows_by_weight(tree):
    network, data = tree
    weights = np.arange(data.n_rows) % 3.0
    ax = plots.posterior(network, data.with_weights(weights))
    check(ax)
    found = lf.Predictor(network).posteriors(data)
    clear = [weights[top.max(axis=1) >= 0.9].sum() / weights.sum() for top in found.values()]
    shares = [text for text in texts_of(ax) if text.endswith("%")][4:]
    assert shares == [write_share(value) for value in sorted(clear)]


def test_answers_given_values(tree, mixed):
    network, _ = tree
    known = {"X1": "1", "X2": "0"}
    ax = plots.posterior(network, evidence=known)
    check(ax)
    texts = texts_of(ax)
    assert texts[0] == "What follows from X1 = 1, X2 = 0"
    assert "X1" not in texts
    check(plots.posterior(network))
    ax = plots.posterior(mixed, evidence={"age": 71.0})
    check(ax)
    share = network.query("X3", known)[0]
    assert f"{100 * float(share):.0f}%" in texts
    with pytest.raises(ParameterError, match="got both"):
        plots.posterior(mixed, mixed.sample(9, random_state=0), evidence={})


def test_ribbons_add_up_to_the_rows(tree):
    network, data = tree
    ax = plots.alluvial(network, data)
    check(ax)
    numbers = [text for text in texts_of(ax) if text.isdecimal()]
    assert sum(map(int, numbers)) == 2 * data.n_rows


def test_ribbons_between_two_models():
    two, three = (lf.LatentClass(k, random_state=0).fit(DATA) for k in (2, 3))
    ax = plots.alluvial(two, DATA, three)
    check(ax)
    assert (
        sum(text.endswith((" · class, 2 states", " · class, 3 states")) for text in texts_of(ax))
        == 2
    )
    with pytest.raises(ModelError, match="one latent variable only"):
        plots.alluvial(two, DATA)
    with pytest.raises(ParameterError, match="latents: got 'A', expected one of 'class'"):
        plots.alluvial(two, DATA, three, latents=["class", "A"])


def test_many_states_are_a_table_of_counts():
    networks = [datasets.random_latent_class(6, k, n_states=4, random_state=k) for k in (9, 20)]
    data = datasets.generate(networks[0], 200, random_state=0)
    ax = plots.alluvial(networks[0], data, networks[1])
    check(ax)
    assert not [patch for patch in ax.patches if type(patch).__name__ == "PathPatch"][1:]
    assert sum(int(text) for text in texts_of(ax) if text.isdecimal()) == data.n_rows


def test_models_are_sorted_by_bic(classes):
    models = {"all alone": lf.Independence().fit(DATA), "classes": classes}
    ax = plots.compare(models, DATA)
    check(ax)
    texts = texts_of(ax)
    assert texts.index("classes") < texts.index("all alone")
    assert plots.compare(lf.compare(models, DATA)) is not None
    check(plots.compare([classes], DATA))
