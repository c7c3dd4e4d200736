"""Compiled code for searches over orders of columns."""
