"""The table of webhooks; conventions as in `chat.store.schema`."""

from __future__ import annotations

from typing import Final

WEBHOOKS: Final = (
    """
    CREATE TABLE webhooks (
        id           INTEGER PRIMARY KEY,
        type         INTEGER NOT NULL,
        guild_id     INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
        channel_id   INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
        user_id      INTEGER NOT NULL,  -- who made it
        name         TEXT    NOT NULL,
        avatar       TEXT,
        sealed_token BLOB    NOT NULL   -- shown again to those who manage webhooks
    ) STRICT
    """,
    "CREATE INDEX webhooks_of_channel ON webhooks (channel_id)",
    "CREATE INDEX webhooks_of_guild ON webhooks (guild_id)",
    """
    CREATE TRIGGER webhook_gone AFTER DELETE ON webhooks
    BEGIN
        DELETE FROM assets WHERE kind = 'avatars' AND owner_id = old.id;
    END
    """,
)
