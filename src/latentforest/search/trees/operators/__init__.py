"""The five operators on latent trees, one file each: a new operator is a new file."""
