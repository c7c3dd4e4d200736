"""Fitting parameters: EM, updates, regions, restarts, convergence."""
