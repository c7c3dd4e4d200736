"""When vectors of small numbers are scaled up, and by how much."""

from __future__ import annotations

import math

SMALL = 2.0**-256
GROW = 2.0**256
LOG_GROW = 256 * math.log(2.0)
TINIEST = 5e-324  # the smallest positive number
HIGHEST = 1e290  # an outside factor above it belongs to a state that is impossible below
VANISHING = 1e-200  # below this, entries lost to underflow may matter: left to the log domain
