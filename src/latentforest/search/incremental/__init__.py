"""Forests that grow from unconnected variables, judged by the evidence lower bound."""
