"""Structural EM: networks over columns with missing cells, and latent variables."""
