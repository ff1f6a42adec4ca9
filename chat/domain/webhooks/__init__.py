"""Webhooks and announcements."""
