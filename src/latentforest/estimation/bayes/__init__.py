"""Variational Bayes: priors, posteriors and their loop."""
