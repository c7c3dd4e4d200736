"""How facts lie in the arrays that kernels take: the one place that knows."""

from __future__ import annotations

from typing import NamedTuple

from latentforest.kernels.types import LongArray

NO_SUMS = -1

# Entries of the record of a block in `Families.tasks`; then come those of its free tables.
NUMBERS = 0  # place in the prior of what the M-step must know
CORE = 1  # entry of the tasks proper: see `gaussian.blocks` and `gaussian.tied_updates`
ADDRESS = 2  # of the M-step
N_TABLES = 3
TABLES = 4
# Entries of the record of such a table: as in `Families`, then the place of its units in the prior.
N_TABLE_ENTRIES = 4


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
