"""What a session is sent when it begins: Ready, and guilds as a whole (gateway.md, Ready; gateway.md, Guild
payloads)."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from chat.wire.account_settings import UserGuildSettings, UserSettings
from chat.wire.accounts import PartialUser, PrivateUser, RelationshipInReady
from chat.wire.channels import PrivateChannel, Thread
from chat.wire.guild_management import VoiceRegion
from chat.wire.guilds import Guild, GuildWithCollections, Member, MemberInReady
from chat.wire.message_lists import FavoriteMeme
from chat.wire.presences import Presence, SessionPresence, VoiceState
from chat.wire.signing_in import WebauthnCredential
from chat.wire.values import Count, Snowflake, Timestamp


class GuildForSession(GuildWithCollections):
    properties: Guild
    """The guild's own members once more."""
    presences: list[Presence]
    """Always empty: presences are asked for."""
    voice_states: list[VoiceState]
    """The voice connections that the session sees."""
    joined_at: Timestamp | None
    """When the account joined the guild."""
    threads: list[Thread]
    """The active threads that the session is told of."""


class WholeGuild(GuildForSession):
    members: list[Member]
    """The account itself and everyone in a voice channel."""


class GuildInReady(GuildForSession):
    members: list[MemberInReady]
    """The account itself and everyone in a voice channel."""


class UnavailableGuild(TypedDict):
    """What stands for a guild that is closed, or that comes later."""

    id: Snowflake
    """Id of the guild."""
    unavailable: bool
    """Always true."""
    unavailable_hidden: NotRequired[bool]
    """Whether clients show nothing of it meanwhile."""


class ReadState(TypedDict):
    id: Snowflake
    """The channel."""
    mention_count: Count
    """How many unread messages mention the account."""
    last_message_id: Snowflake | None
    """The message up to which the account has read; null for none."""
    last_pin_timestamp: Timestamp | None
    """The newest pin that the account has seen; null for none."""
    version: NotRequired[Snowflake]
    """A number that grows with each change."""
    flags: NotRequired[Count]
    """What kind of channel it is, as bits; absent for most."""


class ReadyStart(TypedDict):
    session_id: str
    """The session, for Resume."""
    version: int
    """The version of the gateway."""
    guilds: list[GuildInReady | UnavailableGuild]
    """The guilds of the account, on the session's shard; of a bot all are unavailable."""


class OthersInReady(TypedDict):
    relationships: list[RelationshipInReady]
    """Friends, requests and blocked accounts."""
    presences: list[Presence]
    """Those of friends, and of members of groups, who are online."""
    users: list[PartialUser]
    """The accounts that the rest names."""
    sessions: list[SessionPresence]
    """The sum of the account's sessions, then each."""
    user_settings: UserSettings | None
    """The settings of the account; null for a bot."""


class OwnInReady(TypedDict):
    user: PrivateUser
    """The account itself."""
    private_channels: list[PrivateChannel]
    """The conversations in the list of the account."""
    read_states: list[ReadState]
    """How far the account has read."""
    user_guild_settings: list[UserGuildSettings]
    """What the account has set for single guilds."""
    notes: dict[Snowflake, str]
    """The account's notes about others, by their ids."""
    pinned_dms: list[Snowflake]
    """The conversations at the top of the list."""
    favorite_memes: list[FavoriteMeme]
    """The favourite pictures of the account."""
    webauthn_credentials: list[WebauthnCredential]
    """The passkeys of the account."""
    rtc_regions: list[VoiceRegion]
    """The regions of voice."""


class ReadyRest(OthersInReady, OwnInReady):
    country_code: str
    """Always `US`: nobody looks up where an account is."""


class SessionInReady(TypedDict):
    auth_session_id_hash: NotRequired[str]
    """The hash of the sign-in; absent for a bot."""
    shard: NotRequired[list[Count]]
    """The number of the shard and how many there are, where Identify had them."""


class Ready(ReadyStart, ReadyRest, SessionInReady):
    pass
