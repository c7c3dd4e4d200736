"""Searches over Bayesian networks of the columns themselves, without latent variables."""
