"""What greedy learners are made of: islands, bridges, growing forests, refinement, groups."""
