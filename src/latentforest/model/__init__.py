"""Networks: structure, parameters, queries, sampling, the JSON file."""
