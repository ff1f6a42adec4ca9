"""Objects as the wire has them (guilds.md, Guild object; gateway.md, Ready)."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chat.registries.channel_types import ChannelType
from chat.registries.guild_features import GuildFeature
from chat.registries.message_types import MessageType
from chat.registries.user_flags import PUBLIC_USER_FLAGS, UserFlag
from chat.testing.strategies.values import Body, names, permission_sets, shard_pairs, snowflakes, texts, timestamps


def partial_users() -> st.SearchStrategy[Body]:
    """An account as others see it."""
    flags = st.sets(st.sampled_from([flag for flag in UserFlag if flag & PUBLIC_USER_FLAGS]))
    return st.fixed_dictionaries(
        {
            "id": snowflakes(),
            "username": st.from_regex(r"[A-Za-z0-9_]{1,32}", fullmatch=True),
            "discriminator": st.integers(0, 9999).map(lambda number: f"{number:04d}"),
            "global_name": st.none() | names(),
            "avatar": st.none() | st.from_regex(r"(a_)?[0-9a-f]{8}", fullmatch=True),
            "avatar_color": st.none() | st.integers(0, 0xFFFFFF),
            "flags": flags.map(lambda bits: int(sum(bits))),
        },
        optional={"bot": st.just(True)},
    )


def permission_overwrites() -> st.SearchStrategy[Body]:
    """An overwrite of a channel for a role (type 0) or a member (type 1)."""
    return st.fixed_dictionaries(
        {"id": snowflakes(), "type": st.sampled_from([0, 1]), "allow": permission_sets(), "deny": permission_sets()}
    )


def roles() -> st.SearchStrategy[Body]:
    return st.fixed_dictionaries(
        {
            "id": snowflakes(),
            "name": names(1, 100),
            "color": st.integers(0, 0xFFFFFF),
            "position": st.integers(0, 250),
            "hoist_position": st.none() | st.integers(0, 250),
            "permissions": permission_sets(),
            "hoist": st.booleans(),
            "mentionable": st.booleans(),
        }
    )


def channels() -> st.SearchStrategy[Body]:
    """A guild's channel of any type that holds messages, voice or other channels."""
    return st.sampled_from(
        [ChannelType.GUILD_TEXT, ChannelType.GUILD_VOICE, ChannelType.GUILD_CATEGORY, ChannelType.GUILD_LINK]
    ).flatmap(_channel)


def _channel(kind: ChannelType) -> st.SearchStrategy[Body]:
    members: dict[str, st.SearchStrategy[Any]] = {
        "id": snowflakes(),
        "guild_id": snowflakes(),
        "type": st.just(int(kind)),
        "name": names(1, 100),
        "position": st.integers(0, 500),
        "permission_overwrites": st.lists(permission_overwrites(), max_size=3),
        "nsfw": st.booleans(),
    }
    if kind is not ChannelType.GUILD_CATEGORY:
        members["parent_id"] = st.none() | snowflakes()
    if kind is ChannelType.GUILD_LINK:
        members["url"] = st.none() | st.just("https://chat.example/")
    if kind in {ChannelType.GUILD_TEXT, ChannelType.GUILD_VOICE}:
        members["topic"] = st.none() | texts(0, 1_024)
        members["rate_limit_per_user"] = st.integers(0, 21_600)
        members["last_message_id"] = st.none() | snowflakes()
    if kind is ChannelType.GUILD_VOICE:
        members["bitrate"] = st.integers(8_000, 96_000)
        members["user_limit"] = st.integers(0, 99)
    return st.fixed_dictionaries(members)


def members(user: st.SearchStrategy[Body] | None = None) -> st.SearchStrategy[Body]:
    return st.fixed_dictionaries(
        {
            "user": user or partial_users(),
            "nick": st.none() | names(),
            "avatar": st.none(),
            "banner": st.none(),
            "accent_color": st.none() | st.integers(0, 0xFFFFFF),
            "roles": st.lists(snowflakes(), max_size=4, unique=True),
            "joined_at": timestamps(),
            "mute": st.booleans(),
            "deaf": st.booleans(),
            "communication_disabled_until": st.none() | timestamps(),
            "profile_flags": st.none() | st.integers(0, 3),
        }
    )


def guilds() -> st.SearchStrategy[Body]:
    """A guild object without its collections."""
    return st.fixed_dictionaries(
        {
            "id": snowflakes(),
            "name": names(1, 100),
            "icon": st.none() | st.from_regex(r"(a_)?[0-9a-f]{8}", fullmatch=True),
            "owner_id": snowflakes(),
            "vanity_url_code": st.none() | st.from_regex(r"[a-z0-9]{2,32}", fullmatch=True),
            "system_channel_id": st.none() | snowflakes(),
            "system_channel_flags": st.integers(0, 3),
            "afk_channel_id": st.none() | snowflakes(),
            "afk_timeout": st.sampled_from([60, 300, 900, 1_800, 3_600]),
            "features": st.sets(st.sampled_from([str(feature) for feature in GuildFeature]), max_size=4).map(sorted),
            "verification_level": st.integers(0, 4),
            "mfa_level": st.integers(0, 1),
            "nsfw": st.booleans(),
            "explicit_content_filter": st.integers(0, 2),
            "default_message_notifications": st.integers(0, 1),
            "disabled_operations": st.integers(0, 2**31 - 1),
        }
    )


def ready_guilds() -> st.SearchStrategy[Body]:
    """A whole guild as Ready, Guild Create and Guild Sync have it, or the stub of an unavailable one."""
    collections = st.fixed_dictionaries(
        {
            "roles": st.lists(roles(), max_size=3),
            "channels": st.lists(channels(), max_size=3),
            "emojis": st.just([]),
            "stickers": st.just([]),
            "members": st.lists(members(), min_size=1, max_size=2),
            "member_count": st.integers(1, 1_000_000),
            "online_count": st.integers(0, 1_000_000),
            "presences": st.just([]),
            "voice_states": st.just([]),
            "joined_at": timestamps(),
            "threads": st.just([]),
        }
    )
    whole = st.builds(lambda guild, rest: {**guild, "properties": guild, **rest}, guilds(), collections)
    return whole | snowflakes().map(lambda guild_id: {"id": guild_id, "unavailable": True})


def messages() -> st.SearchStrategy[Body]:
    return st.fixed_dictionaries(
        {
            "id": snowflakes(),
            "channel_id": snowflakes(),
            "author": partial_users(),
            "type": st.sampled_from([int(kind) for kind in MessageType]),
            "flags": st.integers(0, 2**18),
            "content": texts(0, 200),
            "timestamp": timestamps(),
            "edited_timestamp": st.none() | timestamps(),
            "pinned": st.booleans(),
            "mention_everyone": st.booleans(),
            "tts": st.booleans(),
            "mentions": st.lists(partial_users(), max_size=2),
            "mention_roles": st.lists(snowflakes(), max_size=2),
            "embeds": st.just([]),
            "attachments": st.just([]),
            "stickers": st.just([]),
        },
        optional={"nonce": texts(1, 32)},
    )


def invites() -> st.SearchStrategy[Body]:
    """An invite as a client that knows its code sees it."""
    channel = st.fixed_dictionaries({"id": snowflakes(), "name": names(1, 100), "type": st.just(0)})
    return st.fixed_dictionaries(
        {
            "code": st.from_regex(r"[A-Za-z0-9]{6,12}", fullmatch=True),
            "type": st.just(0),
            "guild": guilds(),
            "channel": channel,
            "member_count": st.integers(1, 1_000_000),
            "presence_count": st.integers(0, 1_000_000),
            "expires_at": st.none() | timestamps(),
            "temporary": st.booleans(),
        },
        optional={"inviter": partial_users()},
    )


def readies() -> st.SearchStrategy[Body]:
    """`d` of Ready, as far as gateway.md, Ready, names its members."""
    return st.fixed_dictionaries(
        {
            "session_id": st.text("0123456789abcdef", min_size=32, max_size=32),
            "version": st.just(1),
            "user": partial_users(),
            "guilds": st.lists(ready_guilds(), max_size=2),
        },
        optional={"shard": shard_pairs()},
    )
