"""Search over structures, a package for each subject; here what several of them need."""
