"""Files that become part of a message, in the unit that writes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs

from chat.config import Settings
from chat.domain.messages.message_drafts import AttachmentDraft
from chat.domain.policy.storage_room import require_room
from chat.errors import InvalidFormBody
from chat.store.messages import attachments
from chat.store.messages.messages import Message


def put_into_message(
    connection: sqlite3.Connection, message: Message, files: Sequence[AttachmentDraft], settings: Settings, now_ms: int
) -> None:
    """Make files part of a message; part of the unit that writes it.

    :raises ApiError: as `require_room`.
    :raises InvalidFormBody: for an upload that is gone, or part of another message.
    """
    for index, file in enumerate(files):
        if file.origin_id is not None and attachments.by_id(connection, file.origin_id) is None:
            raise InvalidFormBody.at(f"attachments.{index}", "INVALID_FORMAT")  # what it shares its bytes with is gone
        attachment = attrs.evolve(file.attachment, message_id=message.id)
        put = attachments.put_into_message(connection, attachment, now_ms) if file.is_promised else None
        if put is None:
            put = attachments.insert(connection, attachment)
        if not put:
            raise InvalidFormBody.at(f"attachments.{index}", "INVALID_FORMAT")
    require_room(attachments.usage(connection, files[0].attachment.user_id), settings)
