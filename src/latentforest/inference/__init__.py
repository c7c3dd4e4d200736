"""From a network and a table to pattern tables, messages and posteriors."""
