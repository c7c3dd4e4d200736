"""Networks as JSON documents."""
