"""Data completion: candidates judged, or screened, by expected counts instead of EM."""
