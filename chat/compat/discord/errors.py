"""Refusals in the words of the mount: numbers in place of codes, wrong fields as a tree.

See compat.md, Errors of the mount.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

NUMBERS: Final[Mapping[str, int]] = {
    "UNKNOWN_APPLICATION": 10002,
    "UNKNOWN_CHANNEL": 10003,
    "UNKNOWN_GUILD": 10004,
    "UNKNOWN_INVITE": 10006,
    "UNKNOWN_MEMBER": 10007,
    "UNKNOWN_MESSAGE": 10008,
    "UNKNOWN_ROLE": 10011,
    "UNKNOWN_USER": 10013,
    "UNKNOWN_EMOJI": 10014,
    "UNKNOWN_WEBHOOK": 10015,
    "UNKNOWN_STICKER": 10060,
    "UNKNOWN_INTERACTION": 10062,
    "UNKNOWN_APPLICATION_COMMAND": 10063,
    "UNKNOWN_APPLICATION_COMMAND_PERMISSIONS": 10066,
    "UNKNOWN_FORUM_TAG": 10087,
    "BOTS_CANNOT_CREATE_GUILDS": 20001,
    "EXPLICIT_CONTENT_CANNOT_BE_SENT": 20009,
    "SLOWMODE_RATE_LIMITED": 20016,
    "MAX_GUILDS": 30001,
    "MAX_PINS": 30003,
    "MAX_GROUP_DM_RECIPIENTS": 30004,
    "MAX_GUILD_ROLES": 30005,
    "MAX_WEBHOOKS_PER_CHANNEL": 30007,
    "MAX_EMOJIS": 30008,
    "MAX_REACTIONS": 30010,
    "MAX_GUILD_CHANNELS": 30013,
    "MAX_INVITES": 30016,
    "MAX_GUILD_MEMBERS": 30019,
    "MAX_CATEGORY_CHANNELS": 30030,
    "MAX_APPLICATION_COMMANDS": 30032,
    "MAX_THREAD_MEMBERS": 30033,
    "MAX_APPLICATION_COMMAND_CREATES": 30034,
    "MAX_STICKERS": 30039,
    "MAX_PINNED_THREADS_IN_FORUM": 30047,
    "MAX_WEBHOOKS_PER_GUILD": 30058,
    "PAYLOAD_TOO_LARGE": 40005,
    "FEATURE_TEMPORARILY_DISABLED": 40006,
    "USER_BANNED_FROM_GUILD": 40007,
    "USER_NOT_IN_VOICE": 40032,
    "INTERACTION_ALREADY_ACKNOWLEDGED": 40060,
    "NO_TAGS_AVAILABLE_TO_NON_MODERATORS": 40066,
    "FORUM_TAG_REQUIRED": 40067,
    "ACCESS_DENIED": 50001,
    "MISSING_ACCESS": 50001,
    "CANNOT_EXECUTE_ON_DM": 50003,
    "CANNOT_EDIT_OTHER_USER_MESSAGE": 50005,
    "CANNOT_SEND_EMPTY_MESSAGE": 50006,
    "CANNOT_SEND_MESSAGES_TO_USER": 50007,
    "CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL": 50008,
    "MISSING_PERMISSIONS": 50013,
    "INVALID_CHANNEL_TYPE": 50024,
    "INVALID_WEBHOOK_TOKEN": 50027,
    "INVALID_FORM_BODY": 50035,
    "FILE_SIZE_TOO_LARGE": 50045,
    "CANNOT_MODIFY_SYSTEM_WEBHOOK": 50073,
    "THREAD_ARCHIVED": 50083,
    "TWO_FACTOR_REQUIRED": 60003,
    "SERVICE_UNAVAILABLE": 130000,
    "THREAD_ALREADY_CREATED_FOR_MESSAGE": 160004,
    "THREAD_LOCKED": 160005,
    "MAX_ACTIVE_THREADS": 160006,
    "CONTENT_BLOCKED": 200000,
    "POLL_ENDED": 520001,
    "MESSAGE_WITHOUT_POLL": 520006,
}
"""The number of each code that has one there. Every other code is 0, which stands for no particular error."""

_SEPARATORS: Final = re.compile(r"[.\[\]]+")


def told(body: Mapping[str, Any]) -> Mapping[str, object]:
    """The body of a refusal; `error_code` is our code, for whom a number says too little."""
    code = str(body.get("code", ""))
    errors = body.get("errors")
    made = {**body, "code": NUMBERS.get(code, 0), "error_code": code}
    if isinstance(errors, list):
        made["errors"] = _tree(errors)
    return made


def _tree(errors: Iterable[Mapping[str, str]]) -> Mapping[str, object]:
    """Wrong fields by the segments of their paths, each with its list of errors at `_errors`."""
    root: dict[str, Any] = {}  # a tree of any depth
    for error in errors:
        node = root
        for segment in filter(None, _SEPARATORS.split(error["path"])):
            node = node.setdefault(segment, {})
        node.setdefault("_errors", []).append({"code": error["code"], "message": error["message"]})
    return root
