"""One name, one thing: no two classes of the package are called the same."""

import ast
from collections import defaultdict
from pathlib import Path

import latentforest

ROOT = Path(latentforest.__file__).parent


def test_class_names_are_unique():
    places = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
