"""The sections of a report as plain data, one module each, and what they share."""
