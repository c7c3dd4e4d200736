"""Models whose pages are looked at: small, made by hand, with rows drawn from them."""

import numpy as np

from latentforest import Independence, datasets
from latentforest.data.variable import Variable
from latentforest.model import Network, Structure
from latentforest.report.content import make_content
from reference.mixed_networks import draw_mixed

SUBJECTS = ("Car", "Moped", "Fire", "Farm")


def table(n_rows, n_columns, shift=0):
    """Conditional probabilities that tell states apart, none of them zero."""
    weights = np.ones((n_rows, n_columns))
    for row in range(n_rows):
        weights[row, (row + shift) % n_columns] += 6 * n_columns
    return weights / weights.sum(axis=1, keepdims=True)


def make_forest():
    """Four latent variables in a tree, two columns each; one value cannot occur in a state."""
    variables = [Variable.hidden(f"Y{k}", 3) for k in range(4)]
    parents, tables = {}, {"Y0": [0.5, 0.3, 0.2]}
    for k, subject in enumerate(SUBJECTS):
        if k:
            parents[f"Y{k}"] = f"Y{(k - 1) // 2}"
            tables[f"Y{k}"] = table(3, 3, k)
        for part, size in (("premium", 4), ("number", 2)):
            name = f"{subject}, {part}"
            variables.append(Variable(name, tuple(str(value) for value in range(size))))
            parents[name] = f"Y{k}"
            tables[name] = table(3, size, k)
    tables["Car, number"] = [[1, 0], [0.2, 0.8], [0.1, 0.9]]
    return Network.from_tables(variables, parents, tables)


def make_mixed():
    """Two latent variables over categories and numbers, two of them in one pouch."""
    variables = [Variable.hidden("Y", 3), Variable.hidden("Z", 2), Variable("level", tuple("abcd"))]
    variables += [Variable(name) for name in ("score", "hours", "age")]
    parents = {"Z": "Y", "level": "Y", "score": "Y", "hours": "Z", "age": "Z"}
    return draw_mixed(Structure(variables, parents), 3)


def make_dag():
    """Twelve columns, each below up to two of those before it."""
    variables = [Variable(f"v{k}", ("no", "yes", "often")) for k in range(12)]
    parents = {f"v{k}": tuple(f"v{j}" for j in {k // 2, k // 3} if j < k) for k in range(1, 12)}
    tables = {"v0": [0.2, 0.3, 0.5]}
    for k in range(1, 12):
        rows = 3 ** len(parents[f"v{k}"])
        tables[f"v{k}"] = table(rows, 3, k).reshape(*[3] * len(parents[f"v{k}"]), 3)
    return Network.from_tables(variables, parents, tables)


def make_topics(n_latents=65, n_columns=344):
    """A large tree of words."""
    variables = [Variable.hidden(f"Z{k}", 2) for k in range(n_latents)]
    parents, tables = {}, {"Z0": [0.6, 0.4]}
    for k in range(1, n_latents):
        parents[f"Z{k}"] = f"Z{(k - 1) // 4}"
        tables[f"Z{k}"] = [[0.9, 0.1], [0.15 + 0.2 * (k % 3), 0.85 - 0.2 * (k % 3)]]
    for k in range(n_columns):
        name = f"word{k}"
        variables.append(Variable(name, ("0", "1")))
        parents[name] = f"Z{k % n_latents}"
        tables[name] = [[0.97, 0.03], [0.6 - 0.05 * (k % 9), 0.4 + 0.05 * (k % 9)]]
    return Network.from_tables(variables, parents, tables)


def make_hostile():
    """Names and values that a page might obey."""
    names = (
        "<img src=x onerror=alert(1)>",
        "</script><b>x",
        "\x1b[31m",
        "\u202eevil",
        "long " * 2000,
    )
    variables = [Variable.hidden("<b>Y</b>", 2)]
    variables += [Variable(name, ("<i>0</i>", "=cmd()")) for name in names]
    tables = {name: [[0.9, 0.1], [0.2, 0.8]] for name in names} | {"<b>Y</b>": [0.4, 0.6]}
    return Network.from_tables(variables, dict.fromkeys(names, "<b>Y</b>"), tables)


def list_contents():
    """Contents by name, with rows where a section needs them."""
    forest, mixed, hostile = make_forest(), make_mixed(), make_hostile()
    independent = datasets.load("hiv-tests")
    return {
        "forest": make_content(forest, forest.sample(400, random_state=1), noun="customers"),
        "mixed": make_content(mixed, mixed.sample(200, random_state=1), noun="students"),
        "dag": make_content(make_dag()),
        "topics": make_content(make_topics()),
        "hostile": make_content(hostile, hostile.sample(60, random_state=1), title="<b>x</b>"),
        "independent": make_content(Independence().fit(independent), independent),
        "no-data": make_content(forest),
    }
