"""Application commands, interactions and what they are answered with."""
