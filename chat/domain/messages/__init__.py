"""Messages, reactions, read states and search."""
