"""Variational Bayes on a forest: its E-step and update, for ``loop``.

Vectors hold posteriors and are as long as those of counts. A row of a table holds the parameters of
a Dirichlet distribution. A Gaussian has a Normal-Gamma distribution: mean and rate lie where mean
and variance lie in a parameter vector, weight and shape in the first two of the three places of its
sums. A prior is such a vector too.

The E-step takes *potentials*, the exponentials of expected logarithms: of a table those of its
probabilities; of a Gaussian, in the places of its sums, minus the mean, the factor of the distance
from it, and the logarithm of the constant.
"""

from __future__ import annotations

import math

from latentforest.kernels.addresses import address_of
from latentforest.kernels.compilation import kernel, part, step
from latentforest.kernels.forest.climb import call_propagate, fetch_context
from latentforest.kernels.gaussian.leaves import LOG_2_PI, N_ROWS
from latentforest.kernels.layout import Families
from latentforest.kernels.loop import LOWEST, Method
from latentforest.kernels.types import FloatArray

SERIES = 9.0  # from here on, the asymptotic series of digamma has the precision of a double
TINIEST = 1e-290  # potentials do not fall below it


@kernel
def digamma(x: float) -> float:
    """Derivative of the logarithm of the gamma function, for positive numbers."""
    result = 0.0
    while x < SERIES:
        result -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = 1.0 / 12.0 - y * (
        1.0 / 120.0
        - y
        * (
            1.0 / 252.0
            - y * (1.0 / 240.0 - y * (1.0 / 132.0 - y * (691.0 / 32760.0 - y * (1.0 / 12.0))))
        )
    )
    return result + math.log(x) - 0.5 / x - y * series


@part
def _find_factor(shape: float, rate: float) -> float:
    """Factor of the distance from the mean in a Gaussian's potential."""
    return math.sqrt(0.5 * shape / rate)


@kernel
def fill_potentials(families: Families, q: FloatArray, potentials: FloatArray) -> None:
    """Compute the potentials of the free families from their posteriors."""
    for f in range(families.offset.shape[0]):
        n_states, sums = families.n_states[f], families.sums[f]
        for r in range(families.n_rows[f]):
            if sums >= 0:
                i, s = families.offset[f] + 2 * r, sums + N_ROWS * r
                weight, shape, rate = q[s], q[s + 1], q[i + 1]
                potentials[s] = -q[i]
                potentials[s + 1] = _find_factor(shape, rate)
                potentials[s + 2] = 0.5 * (
                    digamma(shape) - math.log(rate) - LOG_2_PI - 1.0 / weight
                )
                continue
            start = families.offset[f] + r * n_states
            total = 0.0
            for i in range(start, start + n_states):
                total += q[i]
            expected = digamma(total)
            for i in range(start, start + n_states):
                potentials[i] = max(math.exp(digamma(q[i]) - expected), TINIEST)


@kernel
def update_posterior(
    families: Families, prior: FloatArray, counts: FloatArray, q: FloatArray
) -> None:
    """Add the expected counts of the posterior's E-step to the prior."""
    for f in range(families.offset.shape[0]):
        start, n_states, sums = families.offset[f], families.n_states[f], families.sums[f]
        if sums < 0:
            for i in range(start, start + families.n_rows[f] * n_states):
                q[i] = prior[i] + counts[i]
            continue
        for r in range(families.n_rows[f]):
            i, s = start + 2 * r, sums + N_ROWS * r
            # Sums are around the mean of the E-step, in units of its own.
            n, unit, center = counts[s], 1.0 / _find_factor(q[s + 1], q[i + 1]), q[i]
            first, second = unit * counts[s + 1], unit * unit * counts[s + 2]
            away = prior[i] - center
            weight = prior[s] + n
            step = (prior[s] * away + first) / weight
            q[i] = center + step
            q[i + 1] = prior[i + 1] + 0.5 * max(
                second - 2.0 * step * first + n * step * step + prior[s] * (away - step) ** 2, 0.0
            )
            q[s] = weight
            q[s + 1] = prior[s + 1] + 0.5 * n


@kernel
def penalize(families: Families, prior: FloatArray, q: FloatArray) -> float:
    """Minus the Kullback-Leibler divergences of the free families' posteriors from their priors."""
    result = 0.0
    for f in range(families.offset.shape[0]):
        n_states, sums = families.n_states[f], families.sums[f]
        for r in range(families.n_rows[f]):
            if sums >= 0:
                i, s = families.offset[f] + 2 * r, sums + N_ROWS * r
                ratio, shape, away = prior[s] / q[s], q[s + 1], q[i] - prior[i]
                precision = shape / q[i + 1]
                result += 0.5 * (prior[s] * away * away * precision + ratio - 1.0 - math.log(ratio))
                result += (shape - prior[s + 1]) * digamma(shape)
                result += math.lgamma(prior[s + 1]) - math.lgamma(shape)
                result += prior[s + 1] * math.log(q[i + 1] / prior[i + 1])
                result += precision * prior[i + 1] - shape
                continue
            start = families.offset[f] + r * n_states
            total, before = 0.0, 0.0
            for i in range(start, start + n_states):
                total += q[i]
                before += prior[i]
            expected = digamma(total)
            result += math.lgamma(total) - math.lgamma(before)
            for i in range(start, start + n_states):
                result += math.lgamma(prior[i]) - math.lgamma(q[i])
                result += (q[i] - prior[i]) * (digamma(q[i]) - expected)
    return -result


@kernel
def measure_posteriors(
    families: Families, prior: FloatArray, first: FloatArray, second: FloatArray, third: FloatArray
) -> tuple[float, float]:
    """Sum the squares of the differences of three posteriors, in units of observations."""
    r_square, v_square = 0.0, 0.0
    for f in range(families.offset.shape[0]):
        start, sums = families.offset[f], families.sums[f]
        for i in range(start, start + families.n_rows[f] * families.n_states[f]):
            unit = 1.0
            if sums >= 0:
                s = sums + N_ROWS * ((i - start) // 2)
                rate = prior[start + 1] / prior[s + 1]
                unit = 1.0 / rate if (i - start) & 1 == 1 else third[s] / math.sqrt(rate)
            r = (second[i] - first[i]) * unit
            v = (third[i] - second[i]) * unit - r
            r_square += r * r
            v_square += v * v
    return r_square, v_square


@kernel
def project_posterior(
    families: Families, prior: FloatArray, third: FloatArray, q: FloatArray
) -> None:
    """Keep what an extrapolated posterior adds to its prior positive."""
    for f in range(families.offset.shape[0]):
        start, n_states, sums = families.offset[f], families.n_states[f], families.sums[f]
        if sums < 0:
            for i in range(start, start + families.n_rows[f] * n_states):
                q[i] = max(q[i], prior[i] + LOWEST * (third[i] - prior[i]))
            continue
        for r in range(families.n_rows[f]):
            for j in range(3):
                i = start + 2 * r + 1 if j == 0 else sums + N_ROWS * r + j - 1
                q[i] = max(q[i], prior[i] + LOWEST * (third[i] - prior[i]))


@step
def expect(context: int, q: FloatArray, counts: FloatArray, is_judged: bool) -> tuple[float, int]:
    """Fill the expected counts; return the log normalizer and how many root patterns vanished."""
    here = fetch_context(context)
    potentials = here.potentials
    fill_potentials(here.families, q, potentials)
    nothing = potentials[:0]
    found: tuple[float, int] = call_propagate(
        here.propagate, here.plan, here.work, potentials, counts, nothing, 0.0, is_judged
    )
    return found


def find_method() -> Method:
    """Compile, or load, what VBEM does between E-steps."""
    steps = (penalize, update_posterior, measure_posteriors, project_posterior)
    return Method(*map(address_of, steps))
