"""Continuous variables: Gaussian leaves, and blocks with a joint Gaussian."""
