"""To be replaced by the labels and record of networks."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any


class Labels:
    def __init__(self, variables: Mapping[str, str], states: Mapping[str, Any]) -> None:
        self.variables, self.states = dict(variables), states

    def variable(self, name: str) -> str:
        return self.variables.get(name, name)

    def state(self, name: str, state: str) -> str:
        return self.states.get(name, {}).get(state, state)


def make_record(model: Any) -> Any:
    if not hasattr(model, "history_") or not hasattr(model, "bic_"):
        return None
    rows = []
    for row in model.history_.rows():
        row = dict(row)
        if "where" in row:
            row["variables"] = [w for w in row["where"].replace(",", " ").split() if w not in "-"]
        rows.append(row)
    settings = {
        k: v for k, v in model.get_params(deep=False).items() if k not in ("progress", "n_jobs")
    }
    monitor = getattr(model, "monitor_", None)
    import platform

    import numba
    import numpy

    from latentforest.version import __version__

    return SimpleNamespace(
        learner=type(model).__name__,
        settings=settings,
        seed=model.random_state,
        versions={
            "latentforest": __version__,
            "Python": platform.python_version(),
            "NumPy": numpy.__version__,
            "Numba": numba.__version__,
        },
        source=None,
        table={},
        log_likelihood=model.log_likelihood_,
        n_parameters=model.n_parameters_,
        bic=model.bic_,
        seconds=round(model.seconds_, 1),
        interrupted=model.interrupted_,
        converged=None if monitor is None else monitor.converged,
        history=rows,
        notes=list(model.notes_),
        comparisons=None,
        command=None,
    )


def suggest(network: Any, labels: Any) -> tuple[Any, frozenset[str]]:
    from latentforest.inference.pair_tables import make_pair_tables

    tables = make_pair_tables(network)
    numbers = set(network.structure.continuous)
    texts, taken = dict(labels.variables), set(network.names)
    new = set()
    for name in network.latents:
        if name in texts:
            continue
        columns = [
            c
            for c in network.structure.neighbours(name)
            if c in network.observed and c not in numbers
        ]
        near = columns or [c for c in network.structure.neighbours(name) if c not in numbers]
        bits = dict(zip(near, tables.information(name, near), strict=True))
        best = (
            sorted(bits, key=lambda c: -bits[c])[:2] or list(network.structure.children(name))[:2]
        )
        text = " + ".join(best) or name
        while text in taken:
            text += " (hidden)"
        taken.add(text)
        texts[name] = text
        new.add(name)
    return Labels(texts, labels.states), frozenset(new)
