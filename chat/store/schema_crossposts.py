"""What keeps the copies of published messages up to date; conventions as in `chat.store.schema`.

Triggers note every published message that changed or went, whoever did it and by whatever cascade, in the transaction
that did it; `chat.domain.crossposting` works the notes off. A later migration that rebuilds `messages` has to create
the triggers anew.
"""

from __future__ import annotations

from typing import Final


def _noting(name: str, event: str, row: str) -> str:
    """A trigger that notes the copies of a published message (flag CROSSPOSTED) as out of date."""
    return f"""
    CREATE TRIGGER {name} AFTER {event} ON messages WHEN {row}.flags & 1
    BEGIN
        INSERT OR IGNORE INTO crosspost_deliveries (source_id, webhook_id, source_channel_id, due_at)
        SELECT source_id, webhook_id, {row}.channel_id, 0 FROM crosspost_copies WHERE source_id = {row}.id;
    END
    """  # noqa: S608 - our own names


CROSSPOSTS: Final = (
    # Whether the webhook has yet to get its copy; without one it gets none for a mere change.
    "ALTER TABLE crosspost_deliveries ADD COLUMN is_first INTEGER NOT NULL DEFAULT 0",
    _noting("crosspost_source_changed", "UPDATE OF content, extra", "old"),
    _noting("crosspost_source_gone", "DELETE", "old"),
)
