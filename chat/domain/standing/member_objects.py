"""Member objects as the wire has them (guilds.md, Members)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chat.clock import iso_timestamp
from chat.store.guilds.members import Member


def member_object(member: Member, user: Mapping[str, Any] | None, *, now_ms: int) -> dict[str, Any]:
    """The member object; `user` None leaves the user out, as the author's member of a message has it.

    `now_ms` (Unix) decides whether a time-out still runs: while it does, the member counts as muted.
    """
    timed_out = member.is_timed_out(now_ms)
    until = member.communication_disabled_until
    data: dict[str, Any] = {} if user is None else {"user": user}
    data["nick"] = member.nick
    data["avatar"] = member.avatar
    data["banner"] = member.banner
    data["accent_color"] = member.accent_color
    data["roles"] = [str(role_id) for role_id in sorted(member.role_ids)]
    data["joined_at"] = iso_timestamp(member.joined_at)
    data["mute"] = member.mute or timed_out
    data["deaf"] = member.deaf
    data["communication_disabled_until"] = None if until is None or not timed_out else iso_timestamp(until)
    data["profile_flags"] = member.profile_flags
    if member.mention_flags:
        data["mention_flags"] = member.mention_flags
    return data
