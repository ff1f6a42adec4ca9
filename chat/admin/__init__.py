"""The administrative API: everything below /v1/admin (documents 000, Admin credentials, and 002)."""
