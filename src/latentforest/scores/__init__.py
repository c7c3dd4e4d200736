"""Scores of fitted networks."""
