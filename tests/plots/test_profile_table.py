"""Profiles: what is written and drawn is what the network says."""

import pytest

import latentforest as lf
from latentforest import datasets, plots
from latentforest.errors import ModelError, ParameterError
from plots.boxes import check, texts_of


def count(ax, kind):
    return sum(type(patch).__name__ == kind for patch in ax.patches)


def test_bars_are_as_long_as_the_shares(classes):
    ax = plots.profile(classes, "class")
    check(ax)
    table = classes.network_.profiles("class")
    found = texts_of(ax)
    for value in (row["all"] for row in table.rows() if row["value"] != "size"):
        assert f"{100 * value:.0f}%" in found
    from latentforest.model.pictures import palette

    fill = tuple(int(palette.HIDDEN_BAR[k : k + 2], 16) / 255 for k in (1, 3, 5))
    bars = [p for p in ax.patches if p.get_facecolor()[:3] == pytest.approx(fill)]
    longest = max(bar.get_width() for bar in bars)
    states = [name for name in table.columns if name not in ("column", "value", "bits", "all")]
    shares = [row[name] for row in table.rows() for name in states if row["value"] != "size"]
    assert sorted(bar.get_width() / longest for bar in bars) == pytest.approx(
        sorted(share / max(shares) for share in shares), abs=1e-9
    )


@pytest.mark.parametrize("n_states", [2, 5, 6, 14, 15, 40])
def test_any_number_of_states(n_states):
    network = datasets.random_latent_class(6, n_states, n_states=(2, 5), random_state=0)
    check(plots.profile(network))


@pytest.mark.parametrize("n_columns", [4, 60, 200])
def test_the_most_telling_columns_come_first_and_the_others_are_counted(n_columns):
    network = datasets.random_latent_class(n_columns, 3, random_state=0)
    ax = plots.profile(network)
    check(ax)
    best = network.profiles()["column"][1]
    listed = [text for text in texts_of(ax) if text in network.observed]
    assert listed[0] == best
    assert any(f"{n_columns - 12} more columns" in text for text in texts_of(ax)) == (
        n_columns > 12
    )


def test_numbers_have_densities_means_and_deviations(mixed):
    ax = plots.profile(mixed, "Y2")
    check(ax)
    assert count(ax, "Polygon") == 2 * 2 * 3  # two columns; all rows and the state; three states
    assert "70 ± 5" in " ".join(texts_of(ax)).replace(".0", "")
    assert any(text.startswith("through ") for text in texts_of(ax))


def test_rows_are_counted_by_weight(classes):
    data = datasets.load("hiv-tests")
    texts = texts_of(plots.profile(classes, data=data.with_weights(2 * data.weights)))
    counts = [int(t.split(" · ")[1].replace(",", "")) for t in texts if "% · " in t]
    assert sum(counts) == pytest.approx(2 * data.total_weight, abs=2)


def test_what_cannot_be_shown(classes):
    with pytest.raises(ModelError, match="'A' is not a latent variable; expected one of 'class'"):
        plots.profile(classes, "A")
    with pytest.raises(ModelError, match="no latent variable"):
        plots.profile(lf.Independence().fit(datasets.load("hiv-tests")))
    with pytest.raises(ParameterError, match="max_columns must be at least 1"):
        plots.profile(classes, max_columns=0)
    with pytest.raises(ParameterError, match="expected a list of names"):
        plots.profile(classes, columns="A")
    with pytest.raises(ParameterError, match="got dict, expected a fitted learner"):
        plots.profile({})
