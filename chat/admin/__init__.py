"""The administrative API: everything below /v1/admin (access.md, Admin credentials)."""
