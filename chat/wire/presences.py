"""Presences and voice states, which the gateway alone tells of (gateway.md, Presences; gateway.md, Voice states)."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from chat.registries.statuses import Status
from chat.wire.account_settings import CustomStatus
from chat.wire.accounts import PartialUser
from chat.wire.guilds import Member
from chat.wire.values import Snowflake, among, one_of


class SessionPresence(TypedDict):
    session_id: str
    """The session; `all` for the sum of them."""
    status: Annotated[str, one_of(Status)]
    """What the session has chosen."""
    afk: bool
    """Whether nobody is at the session."""
    mobile: bool
    """Whether the session runs on a telephone."""


class Presence(TypedDict):
    user: PartialUser
    """The account it is about."""
    status: Annotated[str, among("dnd", "online", "idle", "offline")]
    """What others see of the account."""
    mobile: bool
    """Whether the account is online by telephone."""
    afk: bool
    """Whether nobody is at any session of the account."""
    custom_status: CustomStatus | None
    """A short text and an emoji beside the name; null for none."""
    guild_id: NotRequired[Snowflake]
    """The guild for which it was asked."""


class VoiceState(TypedDict):
    """A connection of an account to a voice channel or to a call."""

    guild_id: Snowflake | None
    """The guild of the channel; null for a call."""
    channel_id: Snowflake | None
    """The channel that it is connected to; null once it has left."""
    user_id: Snowflake
    """Id of the account."""
    connection_id: str
    """One of several voice connections of the account."""
    session_id: str
    """The gateway session that holds the connection."""
    member: Member | None
    """The membership of the account in the guild; null for a call."""
    mute: bool
    """Whether a moderator has silenced the member in voice channels of the guild."""
    deaf: bool
    """Whether the member hears nothing in voice channels of the guild."""
    self_mute: bool
    """Whether the account has switched off its microphone."""
    self_deaf: bool
    """Whether the account hears nothing, as it chose."""
    self_video: bool
    """Whether its camera is on."""
    self_stream: bool
    """Whether it shows its screen."""
    is_mobile: bool
    """Whether it speaks from a telephone."""
    suppress: bool
    """Whether it may not speak in the channel."""
    viewer_stream_keys: list[str]
    """The streams that it watches."""
    e2ee_capable: bool
    """Whether its client can encrypt from end to end."""
    version: int
    """A number that grows with each change."""
