"""Blocks of continuous variables: a joint Gaussian for each joint state of categorical ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.model.gaussian import Joint, Mixture, find_components, join_gaussians
from latentforest.model.network import Network
from latentforest.model.questions.elimination import compute_joint
from latentforest.model.structure import Structure

MAX_NUMBERS = 2_000_000  # of covariances in one block


@dataclass(frozen=True)
class Block:
    """Continuous variables that depend on each other, and the categorical ones above them.

    ``joint`` has an axis for each variable of the scope. ``shares`` are the probabilities of these
    states, of the same axes.
    """

    names: tuple[str, ...]
    scope: tuple[str, ...]
    joint: Joint
    shares: FloatArray

    def mixture(self, name: str) -> Mixture:
        """The distribution of one variable."""
        means, variances = self.moments(name)
        return Mixture(self.shares.ravel(), means, variances)

    def moments(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Means and variances of one variable, one for each joint state of the scope."""
        i = self.names.index(name)
        return self.joint.means[..., i].ravel(), self.joint.covariances[..., i, i].ravel()


def list_blocks(structure: Structure) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """List the blocks of a structure: continuous variables, then the categorical ones above."""
    found = []
    for names in find_components(structure, structure.continuous):
        above = dict.fromkeys(p for name in names for p in structure.categorical_parents(name))
        found.append((names, tuple(above)))
    return found


def count_numbers(structure: Structure, names: tuple[str, ...], scope: tuple[str, ...]) -> float:
    """Number of covariances of a block."""
    return math.prod(float(structure.shape(each)[-1]) for each in scope) * len(names) ** 2


def find_blocks(network: Network) -> dict[str, Block]:
    """Find the block of each continuous variable; those that are too large have none."""
    found: dict[str, Block] = {}
    structure, parameters = network.structure, network.parameters
    for names, scope in list_blocks(structure):
        if count_numbers(structure, names, scope) > MAX_NUMBERS:
            continue
        joint = join_gaussians(structure, parameters, names)
        shares = compute_joint(structure, parameters, scope, {}) if scope else np.ones(())
        block = Block(names, scope, joint, np.asarray(shares))
        found |= dict.fromkeys(names, block)
    return found
