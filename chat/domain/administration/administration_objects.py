"""Guilds, applications, conversations, relationships and changes as administrators see them (administration.md, Account
lists)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Literal

from chat import wire
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.standing.guild_state import GuildState
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account, AccountChange
from chat.store.applications.applications import Application
from chat.store.guilds.channels import Channel
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.standing.private_channels import PrivateChannel
from chat.store.standing.relationships import Relationship

Category = Literal["friend", "incoming_request", "outgoing_request", "blocked"]
"""What relationships are listed by."""


def user_summary(account: Account) -> wire.AdminUserSummary:
    """The Admin user summary object, which is the Admin resolved user object as well."""
    return {
        "id": str(account.id),
        "username": account.username,
        "discriminator": f"{account.discriminator:04}",
        "global_name": account.global_name,
        "avatar": account.avatar,
    }


def summary_of(connection: sqlite3.Connection, user_id: int | None) -> wire.AdminUserSummary | None:
    """As `user_summary`, of an account that may be gone; None for one that is."""
    account = None if user_id is None else accounts.by_id(connection, user_id)
    return None if account is None else user_summary(account)


def _owner_names(owner: Account | None) -> wire.OwnerNames:
    return {
        "owner_username": None if owner is None else owner.username,
        "owner_global_name": None if owner is None else owner.global_name,
        "owner_discriminator": None if owner is None else f"{owner.discriminator:04}",
    }


def _bot_names(bot: Account | None) -> wire.BotNames:
    return {
        "bot_username": None if bot is None else bot.username,
        "bot_global_name": None if bot is None else bot.global_name,
        "bot_discriminator": None if bot is None else f"{bot.discriminator:04}",
    }


def channel_outline(channel: Channel) -> wire.AuditLogChannel:
    """A channel as id, name, type and guild."""
    return {
        "id": str(channel.id),
        "name": channel.name,
        "type": channel.type,
        "guild_id": optional_id(channel.guild_id),
    }


def admin_guild(guild: Guild, owner: Account | None, presence_count: int | None = None) -> wire.AdminGuild:
    """The Admin guild object; with approximate counts where the count of those present is given."""
    counts: wire.AdminGuildCounts = {}
    if presence_count is not None:
        counts = {"approximate_member_count": guild.member_count, "approximate_presence_count": presence_count}
    return {
        "id": str(guild.id),
        "name": guild.name,
        "features": sorted(guild.features),
        "owner_id": str(guild.owner_id),
        **_owner_names(owner),
        "icon": guild.icon,
        "banner": guild.banner,
        "member_count": guild.member_count,
        "nsfw": guild.nsfw,
        "content_warning_level": guild.content_warning_level,
        "content_warning_text": guild.content_warning_text,
        **counts,
    }


def admin_guild_details(
    state: GuildState, owner: Account | None, presence_count: int, expression_counts: Mapping[str, int]
) -> wire.AdminGuildDetails:
    """The Admin guild object of one guild: with all that the guild object has, its roles and an outline of its
    channels. `expression_counts` says how many emojis and stickers there are."""
    guild = state.guild
    channels = sorted(state.channels.values(), key=lambda channel: (channel.position, channel.id))
    return {
        **state.guild_object(),
        **admin_guild(guild, owner),
        "member_count": state.member_count,
        "approximate_member_count": state.member_count,
        "approximate_presence_count": presence_count,
        "created_at": iso_timestamp(guild.created_at),
        "roles": state.role_objects(threads=True),
        "channels": [
            {
                "id": str(channel.id),
                "name": channel.name,
                "type": channel.type,
                "position": channel.position,
                "parent_id": optional_id(channel.parent_id),
                "nsfw": bool(channel.nsfw),
            }
            for channel in channels
        ],
        "emoji_count": expression_counts["emojis"],
        "sticker_count": expression_counts["stickers"],
    }


def admin_guild_member(
    membership: wire.Membership, member: Member, account: Account, owner_id: int
) -> wire.AdminGuildMember:
    """A member as administrators see it: the member object, with the account's summary and how the member came."""
    return {
        **membership,
        "user": user_summary(account),
        "is_owner": member.user_id == owner_id,
        "join_source_type": member.join_source,
        "inviter_id": optional_id(member.inviter_id),
    }


def admin_application(
    connection: sqlite3.Connection, application: Application, owner: Account | None
) -> wire.AdminApplication:
    """The Admin application object: no secret, no token, only whether there is one and since when."""
    bot = None if application.bot_user_id is None else accounts.by_id(connection, application.bot_user_id)
    return {
        "id": str(application.id),
        "name": application.name,
        "owner_user_id": str(application.owner_id),
        **_owner_names(owner),
        "bot_user_id": optional_id(application.bot_user_id),
        **_bot_names(bot),
        "bot_is_public": application.bot_public,
        "bot_require_code_grant": application.bot_require_code_grant,
        "oauth2_redirect_uris": list(application.redirect_uris),
        "has_client_secret": application.client_secret_hash is not None,
        "has_bot_token": application.bot_token_hash is not None,
        "bot_token_preview": application.bot_token_preview,
        "bot_token_created_at": optional_timestamp(application.bot_token_created_at),
        "client_secret_created_at": optional_timestamp(application.client_secret_created_at),
        "version": 1,
    }


def admin_private_channel(
    channel_id: int, is_open: bool, private: PrivateChannel | None, recipients: Sequence[Account], maximum: int
) -> wire.AdminPrivateChannel:
    """The Admin direct message channel object; `private` is None where the channel's record is gone."""
    channel = None if private is None else private.channel
    return {
        "channel_id": str(channel_id),
        "channel_type": None if channel is None else channel.type,
        "channel_nsfw": None if channel is None else bool(channel.nsfw),
        "guild_nsfw_level": None,
        "recipient_ids": [] if private is None else [str(user_id) for user_id in private.recipient_ids[:maximum]],
        "recipients": [user_summary(account) for account in recipients[:maximum]],
        "last_message_id": optional_id(None if channel is None else channel.last_message_id),
        "is_open": is_open,
        "name": None if channel is None else channel.name,
        "icon": None if channel is None else channel.icon,
        "owner_id": optional_id(None if channel is None else channel.owner_id),
    }


def admin_relationship(
    relationship: Relationship, category: Category, target: Account | None
) -> wire.AdminRelationship:
    """The Admin relationship object; of an erased account it has only the id."""
    return {
        "target_user_id": str(relationship.target_id),
        "category": category,
        "nickname": relationship.nickname,
        "since": optional_timestamp(relationship.since),
        "target": None if target is None or target.is_deleted else user_summary(target),
    }


def change_log_entry(number: int, change: AccountChange, values: wire.ChangedValue) -> wire.AdminUserChangeLogEntry:
    """The Admin user change log object; `values` holds its old and new value as they may be seen. `number` is the
    entry's own id, below 1 for one that was stored without."""
    return {
        "event_id": str(number if number > 0 else change.user_id),
        "field": change.field,
        **values,
        "reason": change.reason,
        "actor_user_id": optional_id(change.actor_user_id),
        "event_at": iso_timestamp(change.changed_at),
    }


def optional_id(snowflake: int | None) -> str | None:
    """A snowflake as the wire has it."""
    return None if snowflake is None else str(snowflake)
