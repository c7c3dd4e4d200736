"""Tables of data: variables, encoded columns, readers of table files."""
