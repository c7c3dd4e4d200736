"""The types that local fits around latent variables are told in.

An *arm* of a latent variable is a neighbour with all that lies behind it: see ``arms``. A *task* is
a bundle of candidates that share most of what is frozen around them, for instance all mediators of
a hub, one of its neighbours and each of the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.types import (
    FloatArray,
    FloatTable,
    IntArray,
    IntTable,
    LongArray,
    LongTable,
)

SOFT = 0.1  # share of the uniform distribution in a guess: EM never leaves a probability of zero
APART = 0.5  # how far the halves of a split state are pushed apart
NOWHERE = -1  # place of what an arm does not have
N_FACTS = 3  # mean, variance and least variance of a column, before its values
EACH_ROW = -1  # column of an arm whose patterns are the rows


class Arms(NamedTuple):
    """The arms of a forest, those of one latent variable after another."""

    first: LongArray  # arms of latent variable h: first[h] to first[h + 1]
    prior: LongArray  # place of P(h) in `tables`
    hub: LongArray  # latent variable that the arm belongs to
    source: LongArray  # latent variable at the near end of the arm; -1 for a leaf
    reverse: LongArray  # the arm of the source that leads back; -1 for a leaf
    column: LongArray  # row of `codes` with the arm's patterns; -1: every row is one
    n_patterns: LongArray
    card: LongArray  # states of the neighbour
    width: LongArray  # states of the hub
    table: LongArray  # place of P(neighbour | hub) in `tables`
    belief: LongArray  # place in `beliefs`, n_patterns x card (padded); -1 for a leaf
    # Place in `beliefs` of the facts and values of a continuous leaf, whose table is mean and
    # variance for each state of the hub; -1 for others.
    facts: LongArray
    message: LongArray  # place in `messages`, n_patterns x width (padded)
    start: LongArray  # place in `representatives` of the first row of each pattern; -1: the row
    order: LongArray  # arms in the order in which messages can be computed
    steps: LongArray  # of the plans of regions, see `layout`


class Values(NamedTuple):
    """The rows, and what is known of the arms."""

    codes: IntTable  # patterns of sets of variables, one row for each set
    representatives: IntArray  # first rows of patterns
    weights: FloatArray  # of the rows
    tables: FloatArray  # P(hub) and P(neighbour | hub) of all arms
    beliefs: FloatArray
    messages: FloatArray
    constant: FloatArray  # for each arm


class RegionShape(NamedTuple):
    """A root, maybe a middle variable, and arms whose messages are multiplied in pairs.

    Members of groups are numbers: the arms in their order, then the groups in theirs. All groups
    together leave one member at the top if there is a base.
    """

    root_card: int
    is_prior_free: bool
    middle_card: int  # 0: there is none
    arms: LongArray
    tops: LongArray  # members that are left when all groups are made
    groups: LongTable  # the two members of each group
    columns: LongArray  # row of `codes` with the patterns of each group; -1: every row is one
    n_patterns: LongArray  # of each group
    codes: IntTable  # patterns of groups
    own: FloatArray  # beliefs of the first arm that replace its own, or nothing


class LocalTask(NamedTuple):
    """Some local fits that share their surroundings; see the functions that gather their bases.

    ``marks`` has an entry for each possible candidate, 0 to leave it out. For a mediator, and for a
    hub that gets another number of states, it is its cardinality.
    """

    kind: int
    hub: int
    arm: int
    lo: int
    hi: int
    marks: LongArray
    ways: LongArray
    region: RegionShape  # of a star
    starts: FloatTable  # of a star without an arm
    most: int  # states of mediators for which `drafts` are made
    # Starts of mediators' tables, of their neighbours' tables; or see `star_starts.start_star`.
    drafts: FloatArray
    places: LongArray  # where the starts of mediators begin
    n_starts: int  # random ones only, around a hub


class LocalTasks(NamedTuple):
    """Several tasks, one in each row; what they have in common is in ``common``.

    The marks of mediators are for all arms of the hub.
    """

    arm: LongArray
    marks: LongTable
    ways: LongTable
    common: LocalTask


class Bases(NamedTuple):
    """What is frozen around each candidate of a task."""

    base: FloatTable  # one vector for each row; a single line if all candidates share it
    constant: FloatArray  # part of the log-likelihood that the region does not hold
    own: FloatTable  # beliefs of the first arm that are peculiar to the candidate
    tables: FloatTable  # first guess of the table of a relocated neighbour


MEDIATORS = 0  # NI: below a hub, of neighbour `arm` and each of `lo` to `hi`
UPPER_MEDIATORS = 1  # NI: of a hub, its parent (`arm`) and each of its other neighbours
RELOCATIONS = 2  # NR: of `arm` to every marked latent variable, passing those in `ways`
STAR_WITHOUT = 3  # ND: `arm` of a hub replaced by others
STAR_AROUND = 4  # SI, SD: all tables around a hub, rooted at neighbour `arm` if that is not -1


def _make_empty() -> LocalTask:
    nothing, one = np.empty(0, np.int64), np.ones(1, np.int64)
    groups, codes, floats = np.empty((0, 2), np.int64), np.empty((0, 0), np.int32), np.empty(0)
    region = RegionShape(0, False, 0, nothing, one - 1, groups, nothing, nothing, codes, floats)
    starts = np.empty((0, 0))
    return LocalTask(0, 0, 0, 0, 0, one, nothing, region, starts, 0, floats, nothing, 0)


EMPTY = _make_empty()  # a task with nothing; what it needs is replaced
