"""What learners share: the estimator, its progress, its early end, its results."""
