"""Passwords on the command line, where lists of processes and histories of shells do not show them."""

from __future__ import annotations

import secrets
import sys
from typing import Final

import click

FROM_STANDARD_INPUT: Final = "-"

GENERATED_BYTES: Final = 15


def generated() -> str:
    """A password that nobody has seen yet."""
    return secrets.token_urlsafe(GENERATED_BYTES)


def asked_for() -> str:
    """Ask for a password twice, without showing it."""
    password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return password


def read(password: str) -> str:
    """The password itself, or where it is `-` what standard input has for it: a question on a terminal, else a line."""
    if password != FROM_STANDARD_INPUT:
        return password
    return asked_for() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
