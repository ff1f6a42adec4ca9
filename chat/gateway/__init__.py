"""The realtime gateway: sockets, sessions, fan-out."""
