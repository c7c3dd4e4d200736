"""Searches over latent trees (EAST, hill climbing): candidates, steps, phases, the journal."""
