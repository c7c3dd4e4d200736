"""Discovers the hidden structure under a table of data."""
