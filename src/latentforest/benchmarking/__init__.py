"""Several learners on the user's own table, judged by rows that they were not fitted to."""
