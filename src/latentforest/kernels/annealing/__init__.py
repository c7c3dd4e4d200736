"""Annealed importance sampling over tables with latent and missing values."""
