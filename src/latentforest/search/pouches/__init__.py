"""Searches over latent trees whose continuous columns lie in pouches (GaussianEAST)."""
