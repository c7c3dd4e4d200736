"""The page's own scripts in a JavaScript engine: those that need no document."""

import json
from functools import cache
from pathlib import Path

from py_mini_racer import MiniRacer

import latentforest
from latentforest.report.page import PURE_SCRIPTS

STATIC = Path(latentforest.__file__).parent / "report" / "static"

ASK = """
const answerPage = (model, variables, evidence, which) => {
  const found = ask(compileModel(model, variables, which), new Map(evidence));
  return JSON.stringify({
    log: found.logProbability === -Infinity ? null : found.logProbability,
    shares: [...found.shares].map(([id, shares]) => [id, [...shares]]),
    mixtures: [...found.mixtures].map(([id, mixture]) => [id, mixtureMoments(mixture)]),
  });
};
"""


@cache
def open_engine() -> MiniRacer:
    """An engine that has read the scripts."""
    engine = MiniRacer()
    body = "\n".join((STATIC / f"{name}.js").read_text(encoding="utf-8") for name in PURE_SCRIPTS)
    engine.eval('"use strict";\n' + body + ASK)
    return engine


def run(function: str, *arguments):
    """Call a function of the scripts with plain data; returns plain data."""
    texts = ", ".join(json.dumps(argument) for argument in arguments)
    return json.loads(open_engine().eval(f"JSON.stringify({function}({texts}))"))


def ask_page(content, evidence, which="reported"):
    """Posteriors by id as the page computes them: shares, or mean and standard deviation.

    Returns the logarithm of the evidence's probability (None if it is impossible) and a dict.
    """
    arguments = (content["model"], content["variables"], list(evidence.items()), which)
    texts = ", ".join(json.dumps(argument) for argument in arguments)
    found = json.loads(open_engine().eval(f"answerPage({texts})"))
    answers = dict(found["shares"])
    answers |= {place: (one["mean"], one["sd"]) for place, one in found["mixtures"]}
    return found["log"], answers
