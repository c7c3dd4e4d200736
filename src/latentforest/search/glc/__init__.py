"""Generalized latent class models: dominance and regularization (Chen, Hua and Liu 2009)."""
