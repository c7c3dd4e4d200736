"""Variational Bayes: potentials, posteriors, divergences."""
