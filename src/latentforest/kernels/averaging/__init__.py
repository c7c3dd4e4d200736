"""Compiled sums over all spanning trees, all networks over columns, and chains of orders."""
