"""Tables of data: variables, encoded columns, readers of table files."""

from latentforest.data.conform import encode_like
from latentforest.data.dataset import Dataset
from latentforest.data.files.sql import read_sql
from latentforest.data.read import read
from latentforest.data.results.write import write_table
from latentforest.data.variable import Variable

__all__ = ["Dataset", "Variable", "encode_like", "read", "read_sql", "write_table"]
