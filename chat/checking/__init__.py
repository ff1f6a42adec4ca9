"""Whether the data of an instance, or a copy of it, is in order."""
