"""Trees from distances between columns: grouping, spanning, parameters one by one, joining."""
