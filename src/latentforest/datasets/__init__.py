"""Published tables and generators of random models."""
