"""Limits and checks that every area asks."""
