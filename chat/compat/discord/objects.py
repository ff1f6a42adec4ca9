"""What the client libraries demand of objects beside what these have here (compat.md, Demanded members).

What is in `DEMANDED` was found by leaving members out and in the libraries' code: without it one of them stops, or
shows less. A role without `colors` stops py-cord, disnake and Oceanic, one without `managed` hikari, a member without
`flags` discord.py. Objects are recognised by the members that only they have, however deep they lie, so that one
table serves every answer and every Dispatch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.registries.audit_actions import AuditAction
from chat.registries.permissions import Permission

Object = dict[str, Any]
"""An object of any kind, of which the mount changes a few members."""


@frozen
class ObjectKind:
    """A kind of object: the members by which it is known, of which few others have the first; those that it gets where
    it has none of that name; and what is made of its own."""

    marks: tuple[str, ...]
    members: Mapping[str, Any] = attrs.field(factory=dict)
    made: Callable[[Object], None] | None = None


def _colors(role: Object) -> None:
    role.setdefault("colors", {"primary_color": role["color"], "secondary_color": None, "tertiary_color": None})


def _public_flags(user: Object) -> None:
    user.setdefault("public_flags", user.get("flags", 0))


def _sticker_items(message: Object) -> None:
    if message.get("stickers"):
        message["sticker_items"] = [{**item, "format_type": _format_of(item)} for item in message["stickers"]]


def _message(message: Object) -> None:
    _sticker_items(message)
    # A forwarded message lies one member deeper there.
    snapshots = message.get("message_snapshots")
    if isinstance(snapshots, list):
        users = {user["id"]: user for user in message.get("users", ())}
        message["message_snapshots"] = [_snapshot(each, users) for each in snapshots]


def _snapshot(snapshot: Any, users: Mapping[str, Object]) -> Any:
    """A snapshot names whom it mentions by id; the message that has it tells of them."""
    if not isinstance(snapshot, dict) or "message" in snapshot:
        return snapshot
    message = {"attachments": [], "components": [], "embeds": [], **snapshot}
    message["mentions"] = [users[each] for each in snapshot.get("mentions", ()) if each in users]
    _sticker_items(message)
    return {"message": message}


def _invite(invite: Object) -> None:
    invite.setdefault("approximate_member_count", invite["member_count"])
    invite.setdefault("approximate_presence_count", invite["presence_count"])
    if isinstance(invite.get("guild"), dict):
        invite["guild"] = INVITE_GUILD | invite["guild"]


def _guild_counts(guild: Object) -> None:
    guild.setdefault("approximate_member_count", guild["member_count"])
    guild.setdefault("approximate_presence_count", guild["online_count"])


def _presence(presence: Object) -> None:
    """A presence in their terms."""
    status, custom = presence["status"], presence["custom_status"]
    presence["activities"] = [] if custom is None else [_activity(custom)]
    place = "mobile" if presence.get("mobile") else "desktop"
    presence["client_status"] = {} if status == "offline" else {place: status}


def _activity(custom: Object) -> Object:
    activity: Object = {"type": CUSTOM_STATUS, "id": "custom", "name": "Custom Status", "state": custom.get("text")}
    if custom.get("emoji_name") or custom.get("emoji_id"):
        emoji = {name: custom.get(f"emoji_{name}") for name in ("id", "name", "animated")}
        activity["emoji"] = {**emoji, "animated": bool(emoji["animated"])}
    return {**activity, "created_at": 0}


def _audit_options(entry: Object) -> None:
    """One library stops at options of an action that has none there."""
    if entry["action_type"] not in WITH_OPTIONS:
        entry.pop("options", None)


def _counts(reaction: Object) -> None:
    reaction.setdefault("count_details", {"burst": 0, "normal": reaction["count"]})


def _description(application: Object) -> None:
    application["description"] = application.get("description") or ""


def with_guild(stickers: Any, guild_id: str) -> None:
    """Let each sticker of a guild name it: libraries index `guild_id`."""
    for sticker in stickers if isinstance(stickers, list) else ():
        if isinstance(sticker, dict) and "tags" in sticker:
            sticker.setdefault("guild_id", guild_id)


def _large(guild: Object) -> None:
    """Where the list of members is not whole, libraries that want it whole ask for the rest."""
    members = guild.get("members")
    guild["large"] = not isinstance(members, list) or len(members) != guild["member_count"]


def _archive_duration(channel: Object) -> None:
    """Where a channel has none of its own the member is not there: null is no number of minutes."""
    if channel["default_auto_archive_duration"] is None:
        del channel["default_auto_archive_duration"]


def _format_of(sticker: Object) -> int:
    return STICKER_GIF if sticker["animated"] else STICKER_PNG


def _format(sticker: Object) -> None:
    sticker.setdefault("format_type", _format_of(sticker))
    tags = sticker.get("tags", [])
    sticker["tags"] = tags if isinstance(tags, str) else ",".join(tags)


PERMISSIONS: Final = frozenset({"permissions", "app_permissions", "allow", "deny"})
"""Members that are permissions, in decimal digits."""

WITH_SENDING: Final = 1 << 31 | 1 << 49 | 1 << 50
"""Bits that mean there what SEND_MESSAGES allows here: commands, polls, and applications of accounts."""


def _with_what_sending_allows(permissions: Any) -> Any:
    """Permissions as they are there: who may write here may do what these bits stand for."""
    if not isinstance(permissions, str) or not permissions.isdecimal():
        return permissions
    bits = int(permissions)
    return str(bits | WITH_SENDING) if bits & Permission.SEND_MESSAGES else permissions


CUSTOM_STATUS: Final = 4
"""The type of an activity that is a custom status, the only one that is shown here."""

STICKER_PNG: Final = 1
STICKER_GIF: Final = 4
GUILD_STICKER: Final = 2

ALLOWED_INTENTS: Final = 1 << 12 | 1 << 14 | 1 << 18
"""Flags of an application: presences, members and message content are for every bot that asks."""

ROLE: Final = ObjectKind(("hoist", "color", "permissions"), {"managed": False}, _colors)
MEMBER: Final = ObjectKind(("joined_at", "roles", "nick"), {"flags": 0})
USER: Final = ObjectKind(("discriminator", "username"), made=_public_flags)
MESSAGE: Final = ObjectKind(("author", "channel_id", "mentions"), {"components": []}, _message)
REACTION: Final = ObjectKind(("me", "emoji", "count"), made=_counts)
EMOJI: Final = ObjectKind(
    ("animated", "id", "name", "nsfw"),
    {"roles": [], "require_colons": True, "managed": False, "available": True},
)
STICKER: Final = ObjectKind(("tags", "id", "name", "animated"), {"type": GUILD_STICKER, "available": True}, _format)
GUILD: Final = ObjectKind(
    ("verification_level", "owner_id"),
    {
        "application_id": None,
        "description": None,
        "discovery_splash": None,
        "max_members": 500_000,
        "max_presences": None,
        "preferred_locale": "en-US",
        "premium_progress_bar_enabled": False,
        "premium_tier": 0,
        "public_updates_channel_id": None,
        "safety_alerts_channel_id": None,
    },
)
WHOLE_GUILD: Final = ObjectKind(
    ("voice_states", "member_count", "channels"),
    {"guild_scheduled_events": [], "soundboard_sounds": [], "stage_instances": []},
    _large,
)
COUNTED_GUILD: Final = ObjectKind(("online_count", "member_count", "owner_id"), made=_guild_counts)
INVITE: Final = ObjectKind(("presence_count", "member_count", "code", "channel"), made=_invite)
INVITE_GUILD: Final[Object] = {"description": None, "nsfw_level": 0, "vanity_url_code": None, "verification_level": 0}
"""What the guild of an invite lacks: those who hold a code are told no more of it."""
AUDIT_LOG: Final = ObjectKind(
    ("audit_log_entries",),
    {
        "application_commands": [],
        "auto_moderation_rules": [],
        "guild_scheduled_events": [],
        "integrations": [],
        "threads": [],
        "users": [],
        "webhooks": [],
    },
)
WITH_OPTIONS: Final = frozenset(
    {
        AuditAction.CHANNEL_OVERWRITE_CREATE,
        AuditAction.CHANNEL_OVERWRITE_UPDATE,
        AuditAction.CHANNEL_OVERWRITE_DELETE,
        AuditAction.MEMBER_PRUNE,
        AuditAction.MEMBER_MOVE,
        AuditAction.MEMBER_DISCONNECT,
        AuditAction.MESSAGE_DELETE,
        AuditAction.MESSAGE_BULK_DELETE,
        AuditAction.MESSAGE_PIN,
        AuditAction.MESSAGE_UNPIN,
    }
)
"""Actions whose entries have options there."""
AUDIT_LOG_ENTRY: Final = ObjectKind(("action_type",), made=_audit_options)
PRESENCE: Final = ObjectKind(("custom_status", "status", "user"), made=_presence)
# Accounts of people have no applications installed.
APPLICATION: Final = ObjectKind(
    ("verify_key", "bot_public"),
    {"approximate_user_install_count": 0, "flags": ALLOWED_INTENTS, "summary": ""},
    _description,
)
CHANNEL: Final = ObjectKind(("default_auto_archive_duration", "type"), made=_archive_duration)

DEMANDED: Final = (
    ROLE, MEMBER, USER, MESSAGE, REACTION, STICKER, EMOJI, GUILD, WHOLE_GUILD, COUNTED_GUILD,
    INVITE, AUDIT_LOG, AUDIT_LOG_ENTRY, PRESENCE, APPLICATION, CHANNEL,
)  # fmt: skip
_BY_FIRST_MARK: Final = {kind.marks[0]: kind for kind in DEMANDED}
_FIRST_MARKS: Final = _BY_FIRST_MARK.keys()
_CONTAINERS: Final = frozenset({dict, list, tuple})


def completed(value: Any) -> Any:
    """The value with every object in it completed; it is copied where it is made of objects and lists."""
    kind = value.__class__
    if kind is dict:
        return _completed_object(value)
    if kind is list or kind is tuple:
        return [completed(each) if each.__class__ in _CONTAINERS else each for each in value]
    return value


def _completed_object(value: Object) -> Object:
    made = value.copy()
    for name, member in value.items():
        if member.__class__ in _CONTAINERS:
            made[name] = completed({"id": None, **member} if name == "emoji" and member.__class__ is dict else member)
    if "stickers" in made and "emojis" in made:  # a guild, or what shows one
        with_guild(made["stickers"], made["id"])
    elif "stickers" in made and "guild_id" in made:
        with_guild(made["stickers"], made["guild_id"])
    for name in PERMISSIONS & made.keys():
        made[name] = _with_what_sending_allows(made[name])
    known = 0
    while known != len(made):  # what was added can make it another kind as well
        known = len(made)
        for mark in _FIRST_MARKS & made.keys():
            kind = _BY_FIRST_MARK[mark]
            if all(name in made for name in kind.marks):
                for name, member in kind.members.items():
                    made.setdefault(name, member)
                if kind.made is not None:
                    kind.made(made)
    return made
