"""One file per learning algorithm."""
