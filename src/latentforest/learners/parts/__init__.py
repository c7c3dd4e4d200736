"""Parts of single learners that would make their files too long."""
