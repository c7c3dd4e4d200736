"""The operators on latent trees with pouches."""
