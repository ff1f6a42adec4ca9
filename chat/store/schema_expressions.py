"""The table of emojis and stickers, and what goes with a guild; conventions as in `chat.store.schema`."""

from __future__ import annotations

from typing import Final

EXPRESSIONS: Final = (
    # The image of an expression is an asset of the same kind, whose owner is the expression. It outlives its row, for
    # messages go on showing it; only a purge takes it away.
    """
    CREATE TABLE expressions (
        id          INTEGER PRIMARY KEY,
        kind        TEXT    NOT NULL,  -- emojis or stickers
        guild_id    INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
        user_id     INTEGER NOT NULL,  -- who made it
        name        TEXT    NOT NULL,
        animated    INTEGER NOT NULL,
        description TEXT    NOT NULL,  -- of stickers
        tags        TEXT    NOT NULL   -- of stickers, a JSON list
    ) STRICT
    """,
    "CREATE INDEX expressions_of_guild ON expressions (guild_id, id)",
    """
    CREATE TRIGGER guild_images_gone AFTER DELETE ON guilds
    BEGIN
        DELETE FROM assets
         WHERE owner_id = old.id AND kind IN ('icons', 'banners', 'splashes', 'embed-splashes');
    END
    """,
)
