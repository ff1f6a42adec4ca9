"""What the models of a client raise."""

from __future__ import annotations


class Misled(AssertionError):
    """The server told a session something that the session must not hear, or cannot understand."""
