"""Networks for people: text, pictures, profiles of latent variables, notebooks."""
