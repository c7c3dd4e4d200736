"""Local fits: messages around latent variables, frozen bases, regions and their starts."""
