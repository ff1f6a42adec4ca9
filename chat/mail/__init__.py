"""Outgoing mail: what is written to people, and where it goes."""
