"""What the package offers, and what importing it costs."""

import ast
import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import latentforest
from latentforest import learners

PUBLIC = [
    "BayesianNetworkSearch",
    "BinaryForest",
    "BridgedIslands",
    "ChowLiu",
    "ChowLiuRecursiveGrouping",
    "Code",
    "ConfirmatoryModel",
    "Dataset",
    "Dirichlet",
    "DoubleHillClimbing",
    "EAST",
    "GaussianEAST",
    "GeneralizedLatentClass",
    "HierarchicalLatentTree",
    "HillClimbing",
    "IncrementalForest",
    "Independence",
    "IndependentClusterings",
    "Labels",
    "LatentClass",
    "ModelAverage",
    "Network",
    "NormalGamma",
    "PosteriorNetwork",
    "Predictor",
    "Recipe",
    "Record",
    "RecursiveGrouping",
    "StructuralEM",
    "Structure",
    "TreeAverage",
    "Variable",
    "__version__",
    "average_networks",
    "benchmark",
    "compare",
    "compute_bivariate_residuals",
    "compute_cell_residuals",
    "cross_validate",
    "datasets",
    "dominates",
    "empirical_kl",
    "fit",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "goodness_of_fit",
    "inspect",
    "is_regular",
    "latent_information",
    "load",
    "log_score",
    "marginal_likelihood",
    "marginally_equivalent",
    "parse_structure",
    "plots",
    "read",
    "read_sql",
    "regularize",
    "report",
    "save",
    "suggest_names",
    "tree_distance",
    "write_structure",
]
HEAVY = [
    "defusedxml",
    "jinja2",
    "joblib",
    "matplotlib",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "sklearn",
]


def modules_with_examples():
    """Every module, however deep, whose source has examples."""
    home = Path(latentforest.__file__).parent
    for path in sorted(home.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(home.parent).with_suffix("").parts
            yield ".".join(parts).removesuffix(".__init__")


def run_fresh(code):
    """Run code in a new interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.split()


def test_public_names():
    assert latentforest.__all__ == sorted(PUBLIC)


@pytest.mark.parametrize("package", [latentforest, learners], ids=lambda package: package.__name__)
def test_type_checkers_see_the_public_names(package):
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        name.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert sorted(homes) == package.__all__
    for name, home in homes.items():
        if home == package.__name__:  # a module of the package
            assert getattr(package, name).__name__ == f"{home}.{name}"
        elif name == "report":  # a package that can be called like the function in it
            assert callable(getattr(package, name))
        else:
            assert getattr(importlib.import_module(home), name) is getattr(package, name)
    (names,) = (node.value for node in stub.body if isinstance(node, ast.Assign))
    assert sorted(ast.literal_eval(names)) == package.__all__


def test_the_package_says_that_it_is_typed():
    assert Path(latentforest.__file__).with_name("py.typed").is_file()


def test_dir_lists_the_public_names():
    assert dir(latentforest) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there(name):
    assert getattr(latentforest, name) is not None


def test_star_import():
    names = {}
    exec("from latentforest import *", names)
    assert set(PUBLIC) <= set(names)


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="module 'latentforest' has no attribute 'EASTT'"):
        latentforest.EASTT  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, latentforest; print(*sys.modules)"
    assert not set(HEAVY) & set(run_fresh(code))


def test_reading_a_table_compiles_nothing():
    code = (
        "import sys, latentforest as lf\n"
        "lf.datasets.load('hiv-tests'); lf.Network\n"
        "print(*sys.modules)"
    )
    assert not {"numba", "sklearn", "pandas", "polars"} & set(run_fresh(code))


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def test_examples_of_nested_packages_are_found():
    depths = {name.count(".") for name in modules_with_examples()}
    assert max(depths) > 2
