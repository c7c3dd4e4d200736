"""Sums and maxima over many structures at once: trees, networks, orders."""
