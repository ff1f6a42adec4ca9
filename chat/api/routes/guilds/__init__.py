"""Guilds, their channels, roles, members, invites and expressions."""
