"""Tables of results: values with names, as text and as files."""
