"""How facts lie in the arrays that kernels take: the one place that knows.

Numba spends much time on every array of a tuple, so some arrays hold several things. A plan is::

    nodes       | record of node 0 | record of node 1 | ...        N_FIELDS numbers each
    slot_child  | child of slot 0, 1, ... | tables of Gaussian columns | tasks of blocks, ...
    slot_index  | links of slot 0, 1, ... | sums of Gaussian columns
                  ^ FIRST_SLOT..LAST_SLOT   ^ PARAMETERS of a GAUSSIAN   ^ PARAMETERS of a BLOCK
    links       | patterns of the child in slot 0, one for each pattern of its parent | slot 1 ...
    evidence    | messages of DENSE nodes | weights, values of GAUSSIANs | weights, scales, values
                                            ^ their WEIGHTS                of BLOCKs
                or, in a region with a base: state 0 of all rows | state 1 | ...   STRIDE apart
    sizes       | N_DOUBLES | OUTSIDE | ...
    steps       | FILL of leaves, of blocks | COLLECT of leaves, of blocks | MEET | UPWARD

and its buffer::

    | messages | outside factors, in the same order | beliefs, tables, counts of nodes | scratch |
    ^ MESSAGES   ^ MESSAGES + OUTSIDE                 ^ BELIEFS TABLE COUNTS TRANSPOSED  ^ SCRATCH

A vector of parameters, of counts, and a prior::

    theta   | tables, one family after another, a Gaussian row is (mean, variance)
    counts  | counts of the tables, like theta  | three sums for each Gaussian | sums of blocks
    prior   | pseudo-counts, like theta         | (mean, variance, least)      | numbers of blocks
                                                  ^ Families.sums                ^ NUMBERS

Free tables are ``Families``; those of a block, or of Gaussians with equal variances, are told by a
record in ``tasks``::

    tasks   | NUMBERS | CORE | REVISE | MEASURE | N_TABLES | table 0 | table 1 ... | tasks proper |
                                                             ^ TABLES              ^ CORE
"""

from __future__ import annotations

from typing import NamedTuple

from latentforest.kernels.types import LongArray

# Kinds of nodes.
HIDDEN = 0  # a variable with children: has a belief and, below its parent, a table
PRODUCT = 1  # a virtual node: the product of some of a hidden node's children
LEAF = 2  # an observed variable without children: its messages are columns of its table
DENSE = 3  # fixed messages: of a frozen subtree, or of an inner node's own observed value
GAUSSIAN = 4  # continuous children of a variable, independent of each other given it
BLOCK = 5  # continuous variables that are jointly Gaussian given a variable

# Fields of a node's record in `Plan.nodes`; a node is known by the place of its record, so that
# field F of node u is `nodes[u + F]`. Places count doubles in the buffer.
KIND = 0
CARD = 1  # states of the node itself
WIDTH = 2  # states of the parent variable: length of a message (roots: own states)
ROW = 3  # CARD padded to whole vectors
COLUMN = 4  # WIDTH padded to whole vectors
N_PATTERNS = 5
IS_ROOT = 6
IS_FREE = 7  # its table is estimated (0: frozen)
PARAMETERS = 8  # offset of the table, (WIDTH, CARD), in the flat parameter vector; -1: none
MESSAGES = 9  # place of the messages, N_PATTERNS x COLUMN
BELIEFS = 10  # place of the beliefs, N_PATTERNS x ROW
TABLE = 11  # place of the padded table, WIDTH x ROW (roots: 1 x ROW)
COUNTS = 12  # place of the sums for that table
TRANSPOSED = 13  # place of the padded transposed table, CARD x COLUMN
SHIFTS = 14  # place in the array of exponents: N_PATTERNS own ones, then N_PATTERNS sums
FIRST_SLOT = 15  # entries of the children in `slot_child`: FIRST_SLOT to LAST_SLOT
LAST_SLOT = 16
WEIGHTS = 17  # place in `weights` (roots)
NEEDS_OUTSIDE = 18  # its outside factors are used
STRIDE = 19  # a root with a base: distance of the states' rows in `evidence`; otherwise 0
N_FIELDS = 20
# Of a GAUSSIAN node (see `gaussian`): CARD is the number of its columns, PARAMETERS the entry of
# the first in `slot_child` and `slot_index`, WEIGHTS the place of its data in `evidence`, BELIEFS
# that of its offsets, TABLE and COUNTS those of the columns' tables and sums, three rows of COLUMN
# for each.
# Of a BLOCK (see `blocks`): CARD is the number of its columns, PARAMETERS the entry of its tasks in
# `slot_child`, WEIGHTS the place of its data in `evidence`, BELIEFS that of its offsets and behind
# them of the logarithms of its messages, TABLE that of its tables.

# Entries of `Plan.sizes`.
N_DOUBLES = 0
OUTSIDE = 1  # distance from a message to its outside factor in the buffer
N_SHIFTS = 2
SCRATCH = 3  # place of the scratch memory in the buffer
DEGREE = 4  # most children of a node, at least one
ROOT_PATTERNS = 5  # most patterns of a root, padded
N_SIZES = 6

# Entries of `Plan.steps`: addresses, 0 where no node needs the step. That of a node of some kind is
# at FILL (or COLLECT) + kind - GAUSSIAN.
FILL = FILL_LEAVES = 0  # the E-step's way up: see `gaussian.leaf_steps`, `gaussian.block_steps`
FILL_BLOCKS = 1
COLLECT = COLLECT_LEAVES = 2  # its way down
COLLECT_BLOCKS = 3
MEET = 4  # see `forest.base`
UPWARD = 5  # the way up of the whole plan, see `forest.upward`
N_STEPS = 6

NO_SUMS = -1

# Entries of the record of a block in `Families.tasks`; then come those of its free tables.
NUMBERS = 0  # place in the prior of what the M-step must know
CORE = 1  # entry of the tasks proper: see `gaussian.blocks` and `gaussian.tied_updates`
REVISE = 2  # address of the M-step
MEASURE = 3  # address of `em.measure_block`
N_TABLES = 4
TABLES = 5
# Entries of the record of such a table: as in `Families`, then the place of its units in the prior.
N_TABLE_ENTRIES = 4

# Actions of the M-step of a block.
UPDATE = 0.0
LOG_PRIOR = 1.0
PROJECT = 2.0

# Entries of the tasks proper of a block; of a list of them behind the slots of a plan, too.
N_COLUMNS = 0
N_STATES = 1
N_FAMILIES = 2
SUMS = 3  # place of the sums in the vector of counts
N_GAPS = 4  # number of sets of missing columns
GAPS = 5  # entry of the first of these
FAMILIES = 6  # entry of the first family
N_ENTRIES = 7
# Entries of the record of a family.
LENGTH = 0
FAMILY_KIND = 1
N_MEMBERS = 2
N_PARENTS = 3
IS_ESTIMATED = 4
HAS_STATES = 5
IS_SHARED = 6
MEMBERS = 7
LINEAR = 0
POUCH = 1
# Entries of the record of a set of missing columns; the columns follow, the missing ones first,
# then the patterns.
GAP_PATTERNS = 0
GAP_OBSERVED = 1
GAP_VALUES = 2  # place of the values in the evidence
GAP_COLUMNS = 3

BATCH = 16  # patterns that are handled at a time: values are padded to that

# Entries of the tasks proper of Gaussians with equal variances; of each column then the offset of
# its table and the place of its sums.
TIED_COLUMNS = 0  # how many
TIED_STATES = 1
SAME_IN_STATES = 2
SAME_IN_COLUMNS = 3
COLUMNS = 4


class Families(NamedTuple):
    """The free tables: offset in the parameter vector, number of rows, length of a row.

    A row of a Gaussian is mean and variance; ``sums`` is the place of the sums of the first row in
    the vector of counts. At the same place in the prior lie mean and variance of the column and the
    least variance. Other tables have no sums.

    A block of continuous variables has no rows. Its offset is that of its record in ``tasks``.
    Units of a row are followed by the means that slopes are multiplied with.
    """

    offset: LongArray
    n_rows: LongArray
    n_states: LongArray
    sums: LongArray
    tasks: LongArray
