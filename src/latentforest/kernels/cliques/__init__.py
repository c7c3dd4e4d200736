"""The junction tree engine: table operations held as data, run by one kernel."""
