"""Hypothesis strategies for what travels over the wire, valid and invalid.

values      snowflakes, time stamps, texts, permission sets, arbitrary JSON
commands    what a gateway client sends: `d` of each opcode, and whole payloads with their verdicts
payloads    messages on the transport: malformed ones with the close they bring about; what the server sends
objects     users, guilds, roles, channels, members, messages, invites as the wire has them
bodies      request bodies
"""

from chat.testing.strategies.bodies import (
    accept_invite_paths,
    guild_bodies,
    invalid_guild_bodies,
    invalid_invite_bodies,
    invalid_login_bodies,
    invalid_message_bodies,
    invalid_registrations,
    invite_bodies,
    login_bodies,
    message_bodies,
    registrations,
)
from chat.testing.strategies.commands import (
    client_payloads,
    heartbeats,
    identifies,
    invalid_heartbeats,
    invalid_identifies,
    invalid_presence_updates,
    invalid_resumes,
    lazy_requests,
    member_requests,
    presence_updates,
    resumes,
    session_commands,
    shard_pairs,
    unknown_opcodes,
    voice_states,
)
from chat.testing.strategies.objects import (
    channels,
    guilds,
    invites,
    members,
    messages,
    partial_users,
    permission_overwrites,
    readies,
    ready_guilds,
    roles,
)
from chat.testing.strategies.payloads import dispatches, malformed_messages, server_payloads
from chat.testing.strategies.values import (
    invalid_snowflakes,
    json_values,
    permission_sets,
    snowflakes,
    texts,
    timestamps,
)

__all__ = [
    "accept_invite_paths",
    "channels",
    "client_payloads",
    "dispatches",
    "guild_bodies",
    "guilds",
    "heartbeats",
    "identifies",
    "invalid_guild_bodies",
    "invalid_heartbeats",
    "invalid_identifies",
    "invalid_invite_bodies",
    "invalid_login_bodies",
    "invalid_message_bodies",
    "invalid_presence_updates",
    "invalid_registrations",
    "invalid_resumes",
    "invalid_snowflakes",
    "invite_bodies",
    "invites",
    "json_values",
    "lazy_requests",
    "login_bodies",
    "malformed_messages",
    "member_requests",
    "members",
    "message_bodies",
    "messages",
    "partial_users",
    "permission_overwrites",
    "permission_sets",
    "presence_updates",
    "readies",
    "ready_guilds",
    "registrations",
    "resumes",
    "roles",
    "server_payloads",
    "session_commands",
    "shard_pairs",
    "snowflakes",
    "texts",
    "timestamps",
    "unknown_opcodes",
    "voice_states",
]
