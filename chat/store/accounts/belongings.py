"""Which tables hold anything of an account: one statement in place of one for each, since most accounts have little."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple


class Belongings(NamedTuple):
    """Whether the account has any of these."""

    relationships: bool
    private_channels: bool
    guild_settings: bool
    notes: bool
    favorite_memes: bool
    passkeys: bool
    """Replaced ones included."""
    read_states: bool
    mass_mentions: bool
    """Whether in one of its guilds a message names everyone, or a role; not whether it is meant."""


_OF_USER: Final = """
    SELECT EXISTS (SELECT 1 FROM relationships WHERE user_id = ?1),
           EXISTS (SELECT 1 FROM private_channel_recipients WHERE user_id = ?1),
           EXISTS (SELECT 1 FROM user_guild_settings WHERE user_id = ?1),
           EXISTS (SELECT 1 FROM user_notes WHERE user_id = ?1),
           EXISTS (SELECT 1 FROM favorite_memes WHERE user_id = ?1),
           EXISTS (SELECT 1 FROM webauthn_credentials WHERE user_id = ?1),
           EXISTS (SELECT 1 FROM read_states WHERE user_id = ?1),
           EXISTS (SELECT 1 FROM members JOIN mass_mentions USING (guild_id) WHERE user_id = ?1)
"""


def of_user(connection: sqlite3.Connection, user_id: int) -> Belongings:
    """Counts what the account has."""
    return Belongings._make(connection.execute(_OF_USER, (user_id,)).fetchone())
