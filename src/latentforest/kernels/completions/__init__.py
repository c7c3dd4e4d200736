"""Completing rows: what may stand in their open cells, and how probable it is."""
