"""How much columns and latent variables tell about each other."""
