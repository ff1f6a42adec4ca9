"""The gateway protocol without I/O."""
