"""Priors of families: from columns, from experts, from files."""

import numpy as np
import pytest

from latentforest import Dataset, Variable
from latentforest.errors import FileFormatError, ParameterError
from latentforest.estimation.bayes.conjugate_priors import Priors, read_priors
from latentforest.model.conjugate import Dirichlet, NormalGamma


@pytest.fixture
def table():
    columns = [np.array([0, 0, 0, 1], np.int32), np.array([1.0, 2.0, 3.0, np.nan])]
    return Dataset([Variable("sex", ("f", "m")), Variable("size")], columns)


def test_empirical_priors_are_worth_one_row(table):
    priors = Priors(table)
    assert np.allclose(priors.of_table("sex").concentration, [4 / 6, 2 / 6])
    size = priors.of_gaussian("size")
    assert (float(size.mean), float(size.weight), float(size.shape)) == (2.0, 1.0, 0.5)
    assert float(size.rate) == pytest.approx(1 / 3)
    assert priors.of_latent(4).concentration.sum() == 1.0


def test_strength_multiplies_what_a_prior_is_worth(table):
    weak, strong = Priors(table, strength=0.1), Priors(table, strength=10)
    assert strong.of_table("sex").concentration.sum() == pytest.approx(10.0)
    assert weak.of_gaussian("size").variance == strong.of_gaussian("size").variance
    for priors in (weak, strong, strong.with_strengths({"sex": 3.0})):
        assert priors.of_latent(4).concentration.tolist() == [0.25] * 4
    with pytest.raises(ParameterError, match="must be positive"):
        Priors(table, strength=0)


def test_a_line_through_the_parents_mean_has_the_prior_of_the_variable_alone(table):
    two = Dataset([Variable("x"), Variable("y")], [np.arange(5.0), np.array([3.0, 1, 4, 1, 5])])
    line, alone = Priors(two).of_line("y", "x"), Priors(two).of_gaussian("y")
    y = np.linspace(-3, 8, 7)
    assert np.allclose(line.log_predictive(y, np.array(2.0)), alone.log_predictive(y))


def test_experts_are_read_from_toml(table, tmp_path):
    path = tmp_path / "priors.toml"
    path.write_text(
        "[sex]\ncounts = {m = 3, f = 1}\n[size]\nmean = 5\nvariance = 2\nstrength = 4\n"
    )
    priors = Priors(table, read_priors(path, table))
    assert priors.of_table("sex").concentration.tolist() == [1.0, 3.0]
    assert priors.of_gaussian("size") == NormalGamma.like(5.0, 2.0, 4.0)
    path.write_text("[size]\nmean = 5\nweight = 1\nshape = 2\nrate = 3\n[sex]\ncounts = [1, 2]")
    assert read_priors(path, table)["size"] == NormalGamma(5.0, 1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[sex", "not a TOML file"),
        ("[age]\nmean = 1", "prior of 'age': there is no such column"),
        ("sex = 3", "expected a table"),
        ("[sex]\ncounts = [1]", "for each of 2 states"),
        ("[sex]\ncounts = {f = 1, x = 2}", "states f, x; expected f, m"),
        ("[sex]\ncounts = [1, -2]", "must be positive"),
        ("[size]\nmean = 1", "weight, shape, rate is missing"),
        ("[size]\nmean = 1\nvariance = 1\nforce = 3", "'force' is not known"),
        ("[size]\nmean = 1\nvariance = 'x'", "variance must be a number"),
        ("[size]\nmean = 1\nvariance = 0", "variance must be positive"),
    ],
)
def test_bad_files_are_refused(table, tmp_path, text, message):
    path = tmp_path / "priors.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read_priors(path, table)


def test_a_missing_file_is_named(table, tmp_path):
    with pytest.raises(FileFormatError, match=r"no\.toml: cannot be read"):
        read_priors(tmp_path / "no.toml", table)


@pytest.mark.parametrize(
    ("experts", "message"),
    [
        ({"age": Dirichlet([1, 1])}, "no such column"),
        ({"sex": Dirichlet([1, 1, 1])}, "each of its 2 states"),
        ({"sex": NormalGamma(0, 1, 1, 1)}, "must be a Dirichlet"),
        ({"size": Dirichlet([1, 1])}, "must be a NormalGamma"),
    ],
)
def test_experts_of_other_columns_are_refused(table, experts, message):
    with pytest.raises(ParameterError, match=message):
        Priors(table, experts)
