"""The rows of the seeded world."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from chat.auth.tokens import token_hash, token_preview
from chat.domain.accounts import guild_folders
from chat.domain.guilds.guild_plan import EVERYONE_NAME
from chat.registries.channel_types import ChannelType
from chat.registries.guild_features import NEW_GUILD_FEATURES
from chat.registries.join_sources import JoinSource
from chat.registries.permissions import DEFAULT_EVERYONE
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import admin_api_keys
from chat.store.administration.admin_api_keys import AdminApiKey
from chat.store.applications import applications
from chat.store.applications.applications import Application
from chat.store.guilds import channels, guilds, members, roles
from chat.store.guilds.channels import Channel
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession

if TYPE_CHECKING:
    from chat.development.seeded_world import SeededAccount, SeededWorld

GUILD_NAME: Final = "Seeded guild"
VOICE_BITRATE: Final = 64_000
VOICE_CONNECTION_LIMIT: Final = 5
BOT_NAME: Final = "alices_bot"
DATE_OF_BIRTH: Final = "1990-01-01"
EVERY_ACL: Final = "*"


def populate(connection: sqlite3.Connection, world: SeededWorld, password_hashes: Mapping[int, str]) -> None:
    """Make the world's rows."""
    for account in world.people:
        record = _account(world, account, password_hashes[account.id])
        accounts.insert(connection, record)
        if account in world.users:
            guild_folders.enter_guild(connection, record, world.guild_id)
        auth_sessions.insert(
            connection,
            AuthSession(token_hash(account.token), account.id, world.made_at, world.made_at, proved_at=world.made_at),
        )
    _add_bot(connection, world)
    admin_api_keys.insert(
        connection,
        AdminApiKey(
            id=world.admin_key_id,
            owner_id=world.admin.id,
            name="Seeded key",
            key_hash=token_hash(world.admin_key),
            acls=(EVERY_ACL,),
            created_at=world.made_at,
        ),
    )
    _add_guild(connection, world)


def _account(world: SeededWorld, account: SeededAccount, password_hash: str) -> Account:
    return Account(
        id=account.id,
        username=account.username,
        discriminator=account.discriminator,
        global_name=account.username.capitalize(),
        email=account.email,
        email_verified=True,
        password_hash=password_hash,
        date_of_birth=DATE_OF_BIRTH,
        acls=(EVERY_ACL,) if account is world.admin else (),
        created_at=world.made_at,
        password_last_changed_at=world.made_at,
        terms_agreed_at=world.made_at,
        privacy_agreed_at=world.made_at,
    )


def _add_bot(connection: sqlite3.Connection, world: SeededWorld) -> None:
    bot, moment = world.bot, world.made_at
    accounts.insert(
        connection,
        Account(
            id=bot.user_id,
            username=BOT_NAME,
            discriminator=bot.discriminator,
            email_verified=True,
            bot=True,
            created_at=moment,
        ),
    )
    applications.insert(
        connection,
        Application(
            id=bot.application_id,
            owner_id=world.owner.id,
            name=BOT_NAME,
            bot_user_id=bot.user_id,
            client_secret_hash=token_hash(bot.client_secret),
            client_secret_created_at=moment,
            bot_token_hash=token_hash(bot.token),
            bot_token_preview=token_preview(bot.token),
            bot_token_created_at=moment,
            verify_key=bot.verify_key,
            created_at=moment,
        ),
    )


def _add_guild(connection: sqlite3.Connection, world: SeededWorld) -> None:
    guilds.insert(
        connection,
        Guild(
            id=world.guild_id,
            owner_id=world.owner.id,
            name=GUILD_NAME,
            created_at=world.made_at,
            system_channel_id=world.channel_id,
            features=frozenset(NEW_GUILD_FEATURES),
            member_count=len(world.users) + 1,
        ),
    )
    roles.insert(connection, [Role(world.guild_id, world.guild_id, EVERYONE_NAME, 0, DEFAULT_EVERYONE)])
    channels.insert(connection, _channels(world))
    for member in _members(world):
        members.insert(connection, member)


def _channels(world: SeededWorld) -> tuple[Channel, ...]:
    guild_id = world.guild_id
    return (
        Channel(world.text_category_id, guild_id, ChannelType.GUILD_CATEGORY, "Text Channels", position=0),
        Channel(world.voice_category_id, guild_id, ChannelType.GUILD_CATEGORY, "Voice Channels", position=1),
        Channel(world.channel_id, guild_id, ChannelType.GUILD_TEXT, "general", parent_id=world.text_category_id),
        Channel(
            world.voice_channel_id,
            guild_id,
            ChannelType.GUILD_VOICE,
            "General",
            parent_id=world.voice_category_id,
            bitrate=VOICE_BITRATE,
            user_limit=0,
            voice_connection_limit=VOICE_CONNECTION_LIMIT,
        ),
    )


def _members(world: SeededWorld) -> tuple[Member, ...]:
    guild_id, moment, owner_id = world.guild_id, world.made_at, world.owner.id
    return (
        Member(guild_id, owner_id, moment, join_source=JoinSource.CREATOR),
        *(
            Member(guild_id, user.id, moment, join_source=JoinSource.INSTANT_INVITE, inviter_id=owner_id)
            for user in world.users[1:]
        ),
        Member(guild_id, world.bot.user_id, moment, join_source=JoinSource.BOT_INVITE, inviter_id=owner_id),
    )
