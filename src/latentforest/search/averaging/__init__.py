"""Averages over structures: trees, networks over columns, the best few of them."""
