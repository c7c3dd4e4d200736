"""The reference is complete: an example for every public name, a page for every one."""

import inspect

import pytest

import api_pages
import latentforest
from latentforest import ConfirmatoryModel, ModelAverage, Predictor
from latentforest.learners.registry import LEARNERS

NAMES = [name for name in latentforest.__all__ if name != "__version__"]
CLASSES = [*(entry.load() for entry in LEARNERS), ConfirmatoryModel, ModelAverage, Predictor]


def has_example(thing):
    """Whether something has an example; of a module, each of its names."""
    if inspect.ismodule(thing):
        return all(has_example(getattr(thing, name)) for name in thing.__all__)
    return ">>> " in (inspect.getdoc(thing) or "")


def list_methods(cls):
    """Yield the public methods that the package defines, each with its versions by ancestors."""
    for name in dir(cls):
        versions = [vars(base)[name] for base in cls.__mro__ if name in vars(base)]
        ours = [each for each in versions if inspect.isfunction(each)]
        if not name.startswith("_") and any(o.__module__.startswith("latentforest") for o in ours):
            yield name, ours


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example(name):
    assert has_example(api_pages.find_object(name))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_method_of_a_learner_has_an_example(cls):
    without = [name for name, versions in list_methods(cls) if not any(map(has_example, versions))]
    assert without == []


def test_methods_are_found():
    names = [name for name, _ in list_methods(Predictor)]
    assert {"fit", "impute", "predict", "score_samples"} <= set(names)
    assert not {"get_params", "network_"} & set(names)


def test_every_public_name_has_a_place_on_a_page():
    shown = {name for objects in api_pages.group_objects().values() for name in objects}
    modules = {name for name in NAMES if inspect.ismodule(api_pages.find_object(name))}
    assert set(NAMES) - modules <= shown
    index = api_pages.write_pages()["api/index.md"]
    assert all(f"[`{name}`]" in index for name in shown)
