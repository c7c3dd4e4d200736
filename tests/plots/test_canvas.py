"""Axes of others, settings of others, names of others: nothing is touched, nothing is obeyed."""

import io
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import latentforest as lf
from latentforest import datasets, plots
from latentforest.errors import MissingExtraError, ParameterError
from latentforest.plots.files import save_picture
from plots.boxes import check, find_overlaps, texts_of

DATA = datasets.load("hiv-tests")
HOSTILE = [
    "$\\frac{1}{0}$ and $x^2",
    "\\textbf{bold} %#&_{}~^",
    "<script>alert(1)</script>",
    "\x1b[31mred\x07",
    "two\nlines\ttab",
    "\u202eright to left",
    "n" * 10_000,
    " " * 5 + "spaces",
]


def draw_all(model, ax):
    """Every picture of a latent class model, each on axes of its own."""
    two = lf.LatentClass(2, random_state=0).fit(DATA)
    names = dict(zip(two.network_.observed, model.observed, strict=True))
    other = two.network_.renamed(names)
    data = model.sample(60, random_state=0)
    value = model.structure.states(model.observed[0])[0]
    return {
        "tree": plots.tree(model, ax=ax()),
        "profile": plots.profile(model, ax=ax()),
        "residuals": plots.residuals(model, data, ax=ax()),
        "certainty": plots.posterior(model, data, ax=ax()),
        "answers": plots.posterior(model, evidence={model.observed[0]: value}, ax=ax()),
        "alluvial": plots.alluvial(model, data, other, ax=ax()),
        "compare": plots.compare({"a" * 300: model, "$b$": other}, data, ax=ax()),
    }


@pytest.fixture(scope="module")
def hostile():
    network = lf.LatentClass(3, random_state=0).fit(DATA).network_
    return [
        network.renamed(dict(zip(network.names, names, strict=True)))
        for names in (HOSTILE[:5], HOSTILE[3:])
    ]


def make_axes():
    return Figure(figsize=(8, 6)).add_axes((0.05, 0.05, 0.9, 0.9))


@pytest.mark.parametrize("place", [0, 1])
def test_hostile_names_are_text(hostile, place):
    for name, ax in draw_all(hostile[place], make_axes).items():
        assert find_overlaps(ax) == [], name
        ax.figure.savefig(io.BytesIO(), format="png")
        assert not any("\x1b" in text or "\u202e" in text for text in texts_of(ax))
        assert max(map(len, texts_of(ax))) < 400


def test_given_axes_leave_pyplot_and_settings_alone(classes):
    before = dict(matplotlib.rcParams)
    for ax in draw_all(classes.network_, make_axes).values():
        check(ax)
    for draw in (plots.elbow, plots.history):
        ax = make_axes()
        assert draw(classes, ax=ax) is ax
    assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("size", [(3, 2), (5, 8), (16, 9)])
def test_pictures_fit_axes_of_any_size(classes, size):
    def make():
        return Figure(figsize=size).add_subplot(1, 1, 1)

    for ax in draw_all(classes.network_, make).values():
        check(ax)


def test_subplots_with_a_layout_engine(classes):
    figure = Figure(figsize=(12, 8), layout="constrained")
    axes = figure.subplots(2, 2)
    plots.tree(classes, ax=axes[0, 0])
    plots.profile(classes, ax=axes[0, 1])
    plots.elbow(classes, ax=axes[1, 0])
    plots.residuals(classes, DATA, ax=axes[1, 1])
    for ax in axes.flat:
        assert find_overlaps(ax) == []


def test_mathematics_of_the_user_is_not_ours(classes):
    with matplotlib.rc_context({"text.usetex": True}):
        ax = plots.tree(classes.network_.renamed({"A": "$a$"}), ax=make_axes())
        assert not any(text.get_usetex() or text.get_parse_math() for text in ax.texts)


def test_without_axes_there_is_a_new_figure(classes):
    first, second = plots.tree(classes), plots.tree(classes)
    assert first.figure is not second.figure
    assert len(pyplot.get_fignums()) == 2


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_files_are_the_same_each_time(classes, tmp_path, suffix):
    paths = [tmp_path / f"{k}.{suffix}" for k in (1, 2)]
    for path in paths:
        save_picture(plots.tree(classes), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with pytest.raises(ParameterError, match=r"must end in \.svg, \.png, \.pdf"):
        save_picture(plots.tree(classes), tmp_path / "x.bmp")


def test_a_picture_looks_as_it_is_described(classes):
    """Coarse squares of the drawn image are dark where shapes are, whatever the font."""
    ax = plots.profile(classes, "class")
    ax.figure.canvas.draw()
    image = np.asarray(ax.figure.canvas.buffer_rgba())[..., :3].astype(float)
    blue = (np.abs(image - [0x5A, 0x8F, 0xC8]).sum(axis=2) < 12).sum()
    to_pixels = ax.transData.get_matrix()[0, 0] ** 2
    boxes = [p for p in ax.patches if matplotlib.colors.to_hex(p.get_facecolor()) == "#5a8fc8"]
    area = sum(box.get_width() * box.get_height() for box in boxes) * to_pixels
    assert blue == pytest.approx(area, rel=0.15)  # marks and antialiasing take the rest


def test_missing_matplotlib_is_named(monkeypatch, classes):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'latentforest\[plots\]'"):
        plots.tree(classes)


def test_matplotlib_is_imported_only_to_draw():
    code = "import sys, latentforest as lf; lf.plots.tree; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_public_pictures():
    listed = [
        "alluvial",
        "compare",
        "elbow",
        "history",
        "posterior",
        "profile",
        "residuals",
        "tree",
    ]
    assert plots.__all__ == listed
    assert all(callable(getattr(plots, name)) for name in listed)
