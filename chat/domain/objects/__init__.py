"""Records as the wire shows them."""
