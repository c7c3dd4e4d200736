"""Adds a page of the API reference for each package to the site: mkdocs calls it as a hook.

The pages follow from the list of public names, so that none is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import latentforest
from latentforest.learners.common.base import NetworkLearner
from latentforest.learners.common.latent_learner import LatentLearner

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

SECTION = "API"  # of the navigation
INTRODUCTIONS = {
    "learners": "All learners have the methods of `NetworkLearner`, and those that find latent "
    "variables have the methods of `LatentLearner`. Both are described first.",
    "data": "Tables, their columns, and how they are read.",
    "model": "Networks: structure, parameters, queries.",
    "formats": "Model files, and networks of other libraries.",
    "datasets": "Published tables, and generators of random models and tables.",
    "scores": "How well models fit, and which differences matter.",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages into the navigation."""
    pages = [{name.capitalize(): f"api/{name}.md"} for name in group_objects()]
    config.nav = [*(config.nav or []), {SECTION: [{"Public names": "api/index.md"}, *pages]}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    from mkdocs.structure.files import File

    for name, text in write_pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def write_pages() -> dict[str, str]:
    """Return the names of the pages and their text."""
    groups = group_objects()
    pages = {f"api/{name}.md": write_page(name, groups[name]) for name in groups}
    return {"api/index.md": write_index(groups)} | pages


def group_objects() -> dict[str, dict[str, Any]]:
    """Return the public objects by the package that they live in, the learners first."""
    groups: dict[str, dict[str, Any]] = defaultdict(dict)
    groups["learners"] = {each.__name__: each for each in (NetworkLearner, LatentLearner)}
    for name, home in sorted(latentforest._HOMES.items()):
        each = find_object(name)
        if isinstance(each, ModuleType):
            groups[name] = {part: getattr(each, part) for part in each.__all__}
        elif not name.startswith("_"):
            groups[home.split(".")[1]][name] = each
    return dict(groups)


def find_object(name: str) -> Any:
    """Return a public object; a function whose package has the same name is taken at its home."""
    home = import_module(latentforest._HOMES[name])
    return getattr(home, name, home)


def write_page(group: str, objects: dict[str, Any]) -> str:
    """Write a page that mkdocstrings fills."""
    parts = [f"# {group.capitalize()}", INTRODUCTIONS.get(group, "")]
    parts += [f"::: {locate(name, each)}" for name, each in objects.items()]
    return "\n\n".join(parts) + "\n"


def locate(name: str, each: Any) -> str:
    """Return where an object is defined."""
    return f"{each.__module__}.{name}"


def write_index(groups: dict[str, dict[str, Any]]) -> str:
    """Write the page that lists all names."""
    return "\n".join(
        [
            "# Public names",
            "",
            "`import latentforest as lf` is meant everywhere. Every name has an example, which the "
            "tests run. `lf.__version__` is the version.",
            *write_lists(groups),
            "",
        ]
    )


def write_lists(groups: dict[str, dict[str, Any]]) -> Iterator[str]:
    for group, objects in groups.items():
        yield f"\n## {group.capitalize()}\n"
        for name, each in objects.items():
            summary = (each.__doc__ or "").strip().partition("\n\n")[0]
            anchor = locate(name, each)
            yield f"- [`{name}`]({group}.md#{anchor}): {' '.join(summary.split())}"
