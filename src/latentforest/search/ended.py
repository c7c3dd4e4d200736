"""The end of a search before its time."""


class SearchEnded(Exception):
    """A search has to end, for the reason given; the best model so far is its result."""
