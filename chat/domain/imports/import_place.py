"""The guild that an import goes into, as far as the import knows it: channels, roles and people by the ids that they
had, and what may still be added.
"""

from __future__ import annotations

import re
import sqlite3
from typing import Final

import attrs

from chat.classes import define, frozen
from chat.config import Settings
from chat.domain.imports.import_report import ImportReport
from chat.domain.policy.profiles import Usernames
from chat.imports.form import ChannelRecord, OverwriteRecord, PersonRecord, RoleRecord, TroubleRecord
from chat.registries.channel_types import THREAD_CHANNEL_TYPES, THREAD_ONLY_CHANNEL_TYPES, ChannelType
from chat.registries.permissions import ALL_DEFINED
from chat.snowflake import SnowflakeGenerator, snowflake_at, snowflake_time_ms
from chat.store import threads
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guilds import channels, roles
from chat.store.guilds.channels import Channel, Forum, ForumTag, Overwrite
from chat.store.guilds.roles import Role
from chat.store.imports import imports, placeholders
from chat.store.imports.placeholders import Placeholder
from chat.store.threads import Thread

DEFAULT_USERNAME: Final = "someone"
USERNAME_CHARACTERS: Final = 32
NAME_CHARACTERS: Final = 32
"""The longest name under which an account is shown."""

_OTHER: Final = re.compile(r"[^A-Za-z0-9_]+")


def username_like(name: str) -> str:
    """A name of the letters that usernames have, made of any other."""
    return _OTHER.sub("_", name).strip("_")[:USERNAME_CHARACTERS] or DEFAULT_USERNAME


@frozen
class KnownChannel:
    """A channel of the guild: its type and what is above it."""

    type: int
    parent_id: int | None

    @property
    def is_thread(self) -> bool:
        return self.type in THREAD_CHANNEL_TYPES

    @property
    def takes_messages(self) -> bool:
        return self.type not in (ChannelType.GUILD_CATEGORY, *THREAD_ONLY_CHANNEL_TYPES)


@define(eq=False, kw_only=True)
class ImportPlace:
    """What is known of the guild. Units change it; when one of them fails, the import ends, and its place with it."""

    guild_id: int
    import_id: int
    source_guild_id: int = 0
    """The id that the guild had, which is everyone's as a role."""
    is_new: bool = False
    """Whether the import made the guild, and may say what everyone may do."""
    channels: dict[int, KnownChannel] = attrs.field(factory=dict)
    channel_count: int = 0
    """Those that are no threads."""
    role_ids: dict[int, int] = attrs.field(factory=dict)
    """By the id in the export: the id here."""
    people: dict[int, int] = attrs.field(factory=dict)
    """By the id in the export: the account, which is whoever claimed the person."""
    bots: set[int] = attrs.field(factory=set)

    @staticmethod
    def read(connection: sqlite3.Connection, guild_id: int, import_id: int) -> ImportPlace:
        """What there is."""
        place = ImportPlace(guild_id=guild_id, import_id=import_id)
        for channel in channels.of_guild(connection, guild_id):
            place.channels[channel.id] = KnownChannel(channel.type, channel.parent_id)
        place.channel_count = len(place.channels)
        for thread_id, kind, parent_id in threads.places_of_guild(connection, guild_id):
            place.channels[thread_id] = KnownChannel(kind, parent_id)
        place.role_ids = {role.id: role.id for role in roles.of_guild(connection, guild_id)}
        for known in placeholders.of_guild(connection, guild_id):
            place.people[known.person_id] = known.claimed_by or known.user_id
            account = accounts.by_id(connection, known.user_id)
            if account is not None and account.bot:
                place.bots.add(known.person_id)
        return place

    def account_of(self, person_id: int) -> int:
        """The account of somebody; an id that nobody has shows a deleted account."""
        return self.people.get(person_id, person_id)


@define(eq=False, kw_only=True)
class PlaceWriter:
    """Adds roles, channels and people to the guild, in units of the import."""

    _settings: Settings
    _snowflakes: SnowflakeGenerator
    _usernames: Usernames
    _now_ms: int

    def add_role(self, connection: sqlite3.Connection, place: ImportPlace, role: RoleRecord, to: ImportReport) -> None:
        """A role, unless it is here. Everyone's changes only where the import made the guild."""
        if role.id == place.source_guild_id:
            place.role_ids[role.id] = place.guild_id
            everyone = roles.by_id(connection, place.guild_id, place.guild_id)
            if place.is_new and everyone is not None:
                roles.replace(connection, [attrs.evolve(everyone, permissions=role.permissions & ALL_DEFINED)])
            return
        if roles.by_id(connection, place.guild_id, role.id) is not None:
            place.role_ids[role.id] = role.id
            to.present["roles"] += 1
            return
        if roles.exists(connection, role.id):
            to.trouble(TroubleRecord(what="role", name=role.name, reason="id is taken"))
            return
        if len(place.role_ids) >= self._settings.limits.max_guild_roles:
            to.trouble(TroubleRecord(what="role", name=role.name, reason="no room"))
            return
        made = Role(
            role.id,
            place.guild_id,
            role.name[:100],
            position=max(1, role.position),
            permissions=role.permissions & ALL_DEFINED,
            color=role.color,
            hoist=role.hoist,
            mentionable=role.mentionable,
        )
        roles.insert(connection, [made])
        imports.note_thing(connection, "role", role.id, place.import_id)
        place.role_ids[role.id] = role.id
        to.came["roles"] += 1

    def add_channel(
        self, connection: sqlite3.Connection, place: ImportPlace, record: ChannelRecord, to: ImportReport
    ) -> None:
        """A channel or a thread, unless it is here."""
        kind = "threads" if record.type in THREAD_CHANNEL_TYPES else "channels"
        if record.id in place.channels:
            to.present[kind] += 1
            return
        if channels.type_of(connection, record.id) is not None:
            to.trouble(TroubleRecord(what="channel", name=record.name, reason="id is taken"))
            return
        if record.id > snowflake_at(self._now_ms):
            to.trouble(TroubleRecord(what="channel", name=record.name, reason="from the future"))
            return
        if kind == "channels" and place.channel_count >= self._settings.limits.max_guild_channels:
            to.trouble(TroubleRecord(what="channel", name=record.name, reason="no room"))
            return
        if kind == "threads" and record.parent_id not in place.channels:
            to.trouble(TroubleRecord(what="thread", name=record.name, reason="no channel"))
            return
        channel = self._channel(place, record)
        if kind == "threads":
            threads.insert(connection, self._thread(channel, record))
        else:
            channels.insert(connection, [channel])
            place.channel_count += 1
        imports.note_thing(connection, "channel", record.id, place.import_id)
        place.channels[record.id] = KnownChannel(channel.type, channel.parent_id)
        to.came[kind] += 1

    def _channel(self, place: ImportPlace, record: ChannelRecord) -> Channel:
        parent_id = record.parent_id if record.parent_id in place.channels else None
        is_forum = record.type in THREAD_ONLY_CHANNEL_TYPES
        tags = tuple(ForumTag(tag.id, tag.name[:20], tag.moderated, None, tag.emoji_name) for tag in record.tags[:20])
        return Channel(
            id=record.id,
            guild_id=place.guild_id,
            type=record.type,
            name=record.name[:100] or "?",
            topic=None if record.topic is None else record.topic[:1_024],
            position=record.position,
            parent_id=parent_id,
            nsfw=record.nsfw,
            rate_limit_per_user=record.rate_limit_per_user,
            bitrate=64_000 if record.type == ChannelType.GUILD_VOICE else None,
            user_limit=0 if record.type == ChannelType.GUILD_VOICE else None,
            owner_id=None if record.thread is None else place.account_of(record.thread.owner_id or 0) or None,
            forum=Forum(tags=tags) if is_forum else None,
            overwrites=tuple(self._overwrites(place, record.overwrites)),
        )

    @staticmethod
    def _overwrites(place: ImportPlace, given: tuple[OverwriteRecord, ...]) -> list[Overwrite]:
        found = {}
        for one in given:
            target = place.role_ids.get(one.target_id) if one.type == 0 else place.people.get(one.target_id)
            if target is not None:
                allow, deny = one.allow & ALL_DEFINED, one.deny & ALL_DEFINED
                found[target] = Overwrite(target, one.type, allow & ~deny, deny)
        return [found[target] for target in sorted(found)]

    def _thread(self, channel: Channel, record: ChannelRecord) -> Thread:
        of = record.thread
        created_at = snowflake_time_ms(record.id) if of is None or of.created_at is None else of.created_at
        return Thread(
            channel=channel,
            archived=True,  # it opens again with the first message
            auto_archive_duration=10_080 if of is None else of.auto_archive_duration,
            archive_timestamp=created_at,
            locked=bool(of and of.locked),
            invitable=True if channel.type == ChannelType.PRIVATE_THREAD else None,
            message_count=0,
            total_message_sent=0,
            member_count=0,
            created_at=created_at,
            archive_at=None,
            applied_tags=() if of is None else of.applied_tags,
        )

    def add_person(
        self, connection: sqlite3.Connection, place: ImportPlace, record: PersonRecord, to: ImportReport
    ) -> None:
        """Somebody of the old place, as an account that nobody can sign in to; once, with the id if that is free."""
        if record.bot:
            place.bots.add(record.id)
        if record.id in place.people:
            return
        account_id = self._account_id(connection, record)
        if account_id is None:
            user_id = record.id
            to.present["people"] += 1
        else:
            user_id = account_id
            username, discriminator = self._usernames.allocate_like(
                connection, username_like(record.username or record.name), bot=record.bot
            )
            account = Account(
                user_id,
                username,
                discriminator,
                global_name=record.name[:NAME_CHARACTERS] or None,
                bot=record.bot,
                created_at=snowflake_time_ms(user_id),
            )
            accounts.insert(connection, account)
            imports.note_thing(connection, "person", user_id, place.import_id)
            to.came["people"] += 1
        placeholders.insert(connection, Placeholder(place.guild_id, user_id, record.id, record.original_id))
        place.people[record.id] = user_id

    def _account_id(self, connection: sqlite3.Connection, record: PersonRecord) -> int | None:
        """The id for a new account; None where another guild has brought the same person."""
        if accounts.by_id(connection, record.id) is None:
            is_free = channels.type_of(connection, record.id) is None and record.id <= snowflake_at(self._now_ms)
            return record.id if is_free else self._snowflakes()
        return None if placeholders.is_one(connection, record.id) else self._snowflakes()
