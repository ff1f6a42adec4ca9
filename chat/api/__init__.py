"""The HTTP API: Quart-Trio behind one declaration per operation."""
