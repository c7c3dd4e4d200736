"""Counting sets of categorical columns, and searches over all subsets of a few columns."""
