"""Accounts: their settings, notes, folders and push subscriptions."""
