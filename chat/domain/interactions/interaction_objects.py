"""Interactions as the wire has them: what the application is told, and what the person's session hears
(interactions.md, Interactions)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from chat import wire
from chat.bus.audience import Audience, ToAccounts, ToSession
from chat.domain.interactions.command_options import NamedIds
from chat.domain.messages.message_objects import attachment_objects, author_object
from chat.domain.policy.embeds import Addresses
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.user_objects import partial_user
from chat.registries.channel_types import ChannelType
from chat.registries.interactions import InteractionContext, InteractionType
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.applications.applications import Application
from chat.store.interactions.interactions import Interaction

LOCALE: Final = "en-US"
"""The language of guilds, which keep none, and of accounts that never chose one."""


def owners_of_installation(guild_id: int | None) -> dict[str, str]:
    """To what the application is installed: the guild, or 0 for a conversation with its bot."""
    return {"0": "0" if guild_id is None else str(guild_id)}


def context_of(access: ChannelAccess) -> InteractionContext:
    """Where the interaction happens."""
    if access.guild_id is not None:
        return InteractionContext.GUILD
    return InteractionContext.BOT_DM if access.channel.type == ChannelType.DM else InteractionContext.PRIVATE_CHANNEL


def interaction_told(
    interaction: Interaction,
    token: str,
    account: Account,
    access: ChannelAccess,
    application: Application,
    data: wire.InteractionData,
    *,
    locale: str,
    attachment_bytes: int,
) -> wire.ToldInteraction:
    """INTERACTION_CREATE as the application hears it, without the message that it may be about. `locale` is the
    person's language."""
    told: wire.ToldInteraction = {
        "id": str(interaction.id),
        "application_id": str(interaction.application_id),
        "type": interaction.type,
        "token": token,
        "version": 1,
        "data": data,
        "channel_id": str(interaction.channel_id),
        "channel": cast("wire.WrittenChannel", {**access.channel_object(), "permissions": str(access.permissions)}),
        "locale": locale,
        "entitlements": [],
        "authorizing_integration_owners": owners_of_installation(interaction.guild_id),
        "context": context_of(access).value,
        "attachment_size_limit": attachment_bytes,
        "app_permissions": str(access.permissions),
    }
    if isinstance(access, GuildChannelAccess):
        state = access.state
        member = state.member_object(access.member, partial_user(account))
        bot_id = application.bot_user_id or 0
        place_id = access.channel.id if access.channel.id in state.channels else access.channel.parent_id
        told["guild_id"] = str(state.id)
        told["guild"] = {"id": str(state.id), "locale": LOCALE, "features": sorted(state.guild.features)}
        told["guild_locale"] = LOCALE
        told["member"] = {**member, "permissions": str(access.permissions)}
        told["app_permissions"] = str(state.permissions(bot_id, place_id))
    else:
        told["user"] = partial_user(account)
    return told


def resolved_of(
    connection: sqlite3.Connection, access: ChannelAccess, named: NamedIds, addresses: Addresses
) -> wire.ResolvedObjects:
    """The objects of the ids that options or menus name; only the kinds of which there are any. `addresses` are those
    of files."""
    resolved: wire.ResolvedObjects = {}
    if named.files:
        resolved["attachments"] = {one["id"]: one for one in attachment_objects(named.files, addresses)}
    if named.users:
        found = accounts.by_ids(connection, named.users)
        resolved["users"] = {str(account.id): partial_user(account) for account in found}
    if isinstance(access, GuildChannelAccess):
        state = access.state
        members = [member for user_id in named.users if (member := state.member(user_id)) is not None]
        if members:
            resolved["members"] = {
                str(member.user_id): {
                    **state.membership_object(member),
                    "permissions": str(state.permissions(member.user_id, _channel_of(access))),
                }
                for member in members
            }
        if named.roles:
            objects = {role["id"]: role for role in state.role_objects(threads=True)}
            resolved["roles"] = {str(role_id): objects[str(role_id)] for role_id in named.roles}
        if named.channels:
            resolved["channels"] = {
                str(channel_id): cast(
                    "wire.NamedChannel",
                    {
                        **state.channel_object(channel_id),
                        "permissions": str(state.permissions(access.user_id, channel_id)),
                    },
                )
                for channel_id in named.channels
            }
    return resolved


def _channel_of(access: GuildChannelAccess) -> int | None:
    return access.channel.id if access.channel.id in access.state.channels else access.channel.parent_id


def metadata_of(interaction: Interaction) -> Mapping[str, Any]:
    """The `interaction` of a message's extra: what an answer keeps of the interaction that it answers."""
    kept: dict[str, object] = {
        "id": str(interaction.id),
        "type": interaction.type,
        "user_id": interaction.user_id,
        "authorizing_integration_owners": owners_of_installation(interaction.guild_id),
    }
    if interaction.name is not None:
        kept["name"] = interaction.name
    if interaction.type == InteractionType.MESSAGE_COMPONENT:
        kept["interacted_message_id"] = str(interaction.message_id)
    if interaction.opened_by is not None:
        kept["triggering_interaction_metadata"] = interaction.opened_by
    return kept


def audience_of(interaction: Interaction) -> Audience:
    """Who hears what becomes of an interaction: the session that it came from, or all of its account."""
    if interaction.session_id is None:
        return ToAccounts((interaction.user_id,))
    return ToSession(interaction.session_id, interaction.user_id)


def outcome(interaction: Interaction, **members: Any) -> Mapping[str, Any]:
    """What that session hears: the interaction by its id and by the nonce of the request."""
    return {"id": str(interaction.id), "nonce": interaction.nonce, **members}


def named_accounts(connection: sqlite3.Connection, user_ids: Iterable[int]) -> dict[int, Account]:
    """Accounts by their ids."""
    return {account.id: account for account in accounts.by_ids(connection, list(user_ids))}


def application_told(application: Application, bot: Account | None) -> wire.CommandApplication:
    """An application as forms name it."""
    bot_user = author_object(application.bot_user_id or 0, bot)
    return {"id": str(application.id), "name": application.name, "icon": application.icon, "bot": bot_user}
