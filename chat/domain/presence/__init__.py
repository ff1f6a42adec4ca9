"""Presences and voice states."""
