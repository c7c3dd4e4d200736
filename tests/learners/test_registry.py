"""Every learner has an entry, every entry a learner."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

from latentforest import learners
from latentforest.learners.common.base import NetworkLearner
from latentforest.learners.registry import COMMANDS, FAMILIES, LEARNERS, START_LEARNERS

NAMES = [entry.name for entry in LEARNERS]


def find_learners():
    """Classes in the files of the package that say how they learn."""
    for found in pkgutil.iter_modules(learners.__path__, f"{learners.__name__}."):
        module = importlib.import_module(found.name)
        for name, each in inspect.getmembers(module, inspect.isclass):
            is_base = any(is_abstract(each, method) for method in dir(each))
            is_here = each.__module__ == found.name
            if is_here and issubclass(each, NetworkLearner) and not is_base:
                yield name


def is_abstract(each, method):
    return getattr(getattr(each, method, None), "__isabstractmethod__", False)


def test_every_learner_has_an_entry():
    # Networks, structures or learners are given to these.
    given = {"Predictor", "ConfirmatoryModel", "ModelAverage"}
    assert set(find_learners()) - given == set(NAMES)


@pytest.mark.parametrize("entry", LEARNERS, ids=NAMES)
def test_an_entry_fits_its_learner(entry):
    learner = entry.load()
    assert learner.__name__ == entry.name
    assert learner.__module__ == entry.home
    assert entry.family in FAMILIES
    known = set(inspect.signature(learner).parameters)
    for settings in (entry.quick, *(command.settings for command in entry.commands)):
        assert set(settings) <= known
    assert len(entry.description) < 100
    assert "\n" not in entry.description


def test_names_are_unique():
    n_commands = sum(len(entry.commands) for entry in LEARNERS)
    assert len(COMMANDS) == n_commands
    assert len(set(NAMES)) == len(NAMES)


def test_families_have_learners_and_stand_together():
    families = [entry.family for entry in LEARNERS]
    assert list(dict.fromkeys(families)) == list(FAMILIES)
    assert families == sorted(families, key=list(FAMILIES).index)


def test_starts_of_searches():
    assert list(START_LEARNERS) == ["bin", "bridged-islands", "chow-liu", "latent-class"]


def test_the_registry_loads_nothing_heavy():
    code = "import sys, latentforest.learners.registry; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "numba", "sklearn", "scipy", "rich", "typer"}
    assert not heavy & set(done.stdout.split())
