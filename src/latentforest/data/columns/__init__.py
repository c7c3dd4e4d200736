"""What a column is: raw values, kinds, missing values, orders of states, oddities, recipes."""
