"""The rules of the platform; no HTTP and no SQL."""
