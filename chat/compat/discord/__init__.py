"""The setting `compat.discord`: a second mount for the client libraries of that service (compat.md, Second mount)."""
