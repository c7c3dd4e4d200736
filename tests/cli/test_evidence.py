"""``--criterion`` with marginal likelihoods."""

import pytest


@pytest.mark.parametrize("criterion", ["cs", "elbo+"])
def test_learn_by_marginal_likelihood(run, criterion):
    result = run("learn", "role-conflict", "--states", "1:3", "--criterion", criterion)
    assert f"{criterion.upper()} chooses (higher is better)" in result.stdout
    assert "→        2     -504.47" in result.stdout


def test_continuous_columns_are_refused(run, survey):
    result = run("learn", survey, "--states", "1:2", "--criterion", "cs", code=1)
    assert "'height' is continuous" in result.output


def test_an_unknown_criterion(run):
    result = run("learn", "role-conflict", "--criterion", "elbo-", code=2)
    assert "elbo" in result.output
