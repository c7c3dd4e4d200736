"""Exact answers of a network: elimination, evidence, marginals, tables of pairs."""
