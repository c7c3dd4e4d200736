"""A runner of commands, and small files to run them on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from latentforest import LatentClass, datasets
from latentforest.cli.main import app

Run = Callable[..., Any]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line with some arguments; check the exit code."""
    monkeypatch.setenv("COLUMNS", "300")  # messages of any length stay on one line

    def invoke(*arguments: object, code: int = 0) -> Any:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A latent class model of two classes in a file."""
    path = tmp_path_factory.mktemp("model") / "model.json"
    learner = LatentClass(2, random_state=0).fit(datasets.load("role-conflict"))
    learner.network_.save(path)
    return path


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """A table of 40 rows with a group, a number, weights and folds."""
    path = tmp_path / "survey.csv"
    lines = ["a,b,c,height,times,fold"]
    for i in range(40):
        one = "yes" if i % 2 else "no"
        lines.append(f"{one},{one if i % 5 else 'no'},{i % 3},{i / 7:.3f},{1 + i % 2},f{i % 4}")
    path.write_text("\n".join(lines) + "\n")
    return path
