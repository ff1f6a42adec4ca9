"""How much may be uploaded: by an account, and by everybody together."""

from __future__ import annotations

from chat.config import Settings
from chat.errors import ApiError
from chat.store.messages.attachments import Usage


def require_room(usage: Usage, settings: Settings) -> None:
    """Check what is taken, what is about to be written included.

    :raises ApiError: FILE_SIZE_TOO_LARGE for more than `limits.user_storage` of an account, or more than
        `media.storage_bytes` of everybody.
    """
    everybodys = settings.media.storage_bytes
    if usage.bytes > settings.limits.user_storage or (everybodys is not None and usage.instance_bytes > everybodys):
        raise ApiError("FILE_SIZE_TOO_LARGE")
