"""Parameters for rows that were not in the table: pseudo-counts and their weights."""
