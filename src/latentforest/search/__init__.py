"""Search over structures: operators, candidates and their evaluation, phases, the trace."""
