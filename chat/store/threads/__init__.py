"""Threads, forums and their posts."""
