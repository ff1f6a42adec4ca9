"""The guild that an import goes into, as far as the import knows it: channels, roles and people by the ids that they
had, and what may still be added.
"""

from __future__ import annotations

import functools
import re
import sqlite3
from collections.abc import Callable
from typing import Final

import attrs

from chat.classes import define, frozen
from chat.config import Settings
from chat.domain.imports.import_report import ImportReport
from chat.domain.policy.profiles import Usernames
from chat.imports.form import ChannelRecord, PersonRecord, RoleRecord, TroubleRecord
from chat.registries.channel_types import (
    THREAD_CHANNEL_TYPES,
    THREAD_ONLY_CHANNEL_TYPES,
    ChannelFlag,
    ChannelType,
    ForumLayout,
    ForumSortOrder,
    OverwriteType,
)
from chat.registries.permissions import ALL_DEFINED
from chat.snowflake import SnowflakeGenerator, snowflake_at, snowflake_time_ms
from chat.store import threads
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guilds import channels, roles
from chat.store.guilds.channels import Channel, Forum, ForumReaction, ForumTag, Overwrite
from chat.store.guilds.roles import Role
from chat.store.imports import imports, placeholders, portions
from chat.store.imports.placeholders import Placeholder
from chat.store.messages import author_messages
from chat.store.threads import Thread

DEFAULT_USERNAME: Final = "someone"
USERNAME_CHARACTERS: Final = 32
NAME_CHARACTERS: Final = 32
"""The longest name under which an account is shown."""

BITRATE: Final = 64_000
"""Of a voice channel of which nothing is said, in bits a second."""

SLOWEST: Final = 21_600
"""Seconds between two messages of one person, at most."""

ARCHIVE_MINUTES: Final = frozenset({60, 1_440, 4_320, 10_080})
"""After which threads may archive themselves."""

POSITIONS: Final = 10_000
COLORS: Final = 0xFFFFFF
CONNECTIONS: Final = 99
WARNING_LEVELS: Final = 2
WARNING_CHARACTERS: Final = 200
EMOJI_CHARACTERS: Final = 64
TAG_SETTINGS: Final = frozenset({"match_some", "match_all"})
CHANNEL_FLAGS: Final = ChannelFlag.PINNED | ChannelFlag.REQUIRE_TAG | ChannelFlag.HIDE_MEDIA_DOWNLOAD_OPTIONS

_OTHER: Final = re.compile(r"[^A-Za-z0-9_]+")


def username_like(name: str) -> str:
    """A name of the letters that usernames have, made of any other."""
    return _OTHER.sub("_", name).strip("_")[:USERNAME_CHARACTERS] or DEFAULT_USERNAME


def bounded(number: int, most: int) -> int:
    """A number of a record, which may be any."""
    return min(max(number, 0), most)


def _slow(seconds: int) -> int:
    return bounded(seconds, SLOWEST)


def _is_below(kind: int, above: KnownChannel | None) -> bool:
    """Whether a channel of a kind may stand below another one."""
    if above is None:
        return False
    if kind in THREAD_CHANNEL_TYPES:
        return not above.is_thread and above.type not in (ChannelType.GUILD_CATEGORY, ChannelType.GUILD_LINK)
    return kind != ChannelType.GUILD_CATEGORY and above.type == ChannelType.GUILD_CATEGORY


def _archive_minutes(given: int | None) -> int | None:
    return given if given in ARCHIVE_MINUTES else None


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
    is_somebody: Callable[[int], bool]
    """Whether an account, an application or a webhook of this instance has an id."""
    new_id: Callable[[], int]
    latest_id: int
    """Ids above it are still to be given out here."""
    source_guild_id: int = 0
    """The id that the guild had, which is everyone's as a role."""
    is_new: bool = False
    """Whether the import made the guild, and may say what everyone may do."""
    channels: dict[int, KnownChannel] = attrs.field(factory=dict)
    made_channels: set[int] = attrs.field(factory=set)
    """Those that the import has made and that do not count as read yet."""
    channel_count: int = 0
    """Those that are no threads."""
    role_ids: dict[int, int] = attrs.field(factory=dict)
    """By the id in the export: the id here."""
    people: dict[int, int] = attrs.field(factory=dict)
    """By the id in the export: the account. Where somebody has claimed the person, an errand behind the import moves
    what it brought (`chat.domain.guilds.claims`)."""
    strangers: dict[int, int] = attrs.field(factory=dict)
    """The same of those that the export names and does not tell of."""
    webhooks: dict[int, int] = attrs.field(factory=dict)
    """By the id in the export: the id here, which no webhook has."""
    bots: set[int] = attrs.field(factory=set)
    """Accounts."""

    @staticmethod
    def read(
        connection: sqlite3.Connection, guild_id: int, import_id: int, new_id: Callable[[], int], now_ms: int
    ) -> ImportPlace:
        """What there is. The connection is kept, to ask who has an id."""
        place = ImportPlace(
            guild_id=guild_id,
            import_id=import_id,
            is_somebody=functools.partial(placeholders.is_somebody, connection),
            new_id=new_id,
            latest_id=snowflake_at(now_ms),
        )
        for channel in channels.of_guild(connection, guild_id):
            place.channels[channel.id] = KnownChannel(channel.type, channel.parent_id)
        place.channel_count = len(place.channels)
        for thread_id, kind, parent_id in threads.places_of_guild(connection, guild_id):
            place.channels[thread_id] = KnownChannel(kind, parent_id)
        place.role_ids = {role.id: role.id for role in roles.of_guild(connection, guild_id)}
        for known in placeholders.of_guild(connection, guild_id):
            user_id = place.people[known.person_id] = known.user_id
            account = accounts.by_id(connection, user_id)
            if account is not None and account.bot:
                place.bots.add(user_id)
        return place

    def account_of(self, person_id: int) -> int:
        """The account of somebody of the export.

        Who has no record there gets an id that nobody has, which is shown as a deleted account: an export that names
        an account of this instance could put words into its mouth.
        """
        user_id = self.people.get(person_id)
        if user_id is None:
            user_id = self.strangers.get(person_id)
        if user_id is None:
            user_id = self.strangers[person_id] = self._id_of_nobody(person_id)
        return user_id

    def webhook_of(self, webhook_id: int) -> int:
        """The id under which a webhook of the export is known here, where it cannot write."""
        known = self.webhooks.get(webhook_id)
        if known is None:
            known = self.webhooks[webhook_id] = self._id_of_nobody(webhook_id)
        return known

    def _id_of_nobody(self, some_id: int) -> int:
        """The id itself if nobody has it, or another one."""
        return self.new_id() if some_id > self.latest_id or self.is_somebody(some_id) else some_id


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
        if roles.exists(connection, role.id) or role.id > place.latest_id:
            to.trouble(TroubleRecord(what="role", name=role.name, reason="id is taken"))
            return
        if len(place.role_ids) >= self._settings.limits.max_guild_roles:
            to.trouble(TroubleRecord(what="role", name=role.name, reason="no room"))
            return
        made = Role(
            role.id,
            place.guild_id,
            role.name[:100] or "?",
            position=max(1, bounded(role.position, POSITIONS)),
            permissions=role.permissions & ALL_DEFINED,
            color=bounded(role.color, COLORS),
            hoist_position=None if role.hoist_position is None else bounded(role.hoist_position, POSITIONS),
            hoist=role.hoist,
            mentionable=role.mentionable,
            unicode_emoji=_emoji(role.unicode_emoji),
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
        if record.id > place.latest_id:
            to.trouble(TroubleRecord(what="channel", name=record.name, reason="from the future"))
            return
        if kind == "channels" and place.channel_count >= self._settings.limits.max_guild_channels:
            to.trouble(TroubleRecord(what="channel", name=record.name, reason="no room"))
            return
        fits = _is_below(record.type, place.channels.get(record.parent_id or 0))
        if kind == "threads" and not fits:
            to.trouble(TroubleRecord(what="thread", name=record.name, reason="no channel"))
            return
        if kind == "threads" and portions.is_elsewhere(connection, record.id, record.parent_id):
            to.trouble(TroubleRecord(what="thread", name=record.name, reason="id is taken"))
            return
        if record.parent_id is not None and not fits:
            to.trouble(TroubleRecord(what="category", name=f"of {record.name}", reason="no channel"))
            record = attrs.evolve(record, parent_id=None)
        channel = self._channel(place, record, to)
        if kind == "threads":
            threads.insert(connection, self._thread(channel, record))
        else:
            channels.insert(connection, [channel])
            place.channel_count += 1
        imports.note_thing(connection, "channel", record.id, place.import_id)
        place.made_channels.add(record.id)
        to.made_unread = True
        place.channels[record.id] = KnownChannel(channel.type, channel.parent_id)
        to.came[kind] += 1

    def _channel(self, place: ImportPlace, record: ChannelRecord, to: ImportReport) -> Channel:
        is_voice = record.type == ChannelType.GUILD_VOICE
        limit = record.voice_connection_limit
        warning = record.content_warning_text
        return Channel(
            id=record.id,
            guild_id=place.guild_id,
            type=record.type,
            name=record.name[:100] or "?",
            topic=None if record.topic is None else record.topic[:1_024],
            position=bounded(record.position, POSITIONS),
            parent_id=record.parent_id,
            nsfw=record.nsfw,
            nsfw_override=record.nsfw_override,
            content_warning_level=bounded(record.content_warning_level, WARNING_LEVELS),
            content_warning_text=None if warning is None else warning[:WARNING_CHARACTERS],
            flags=record.flags & CHANNEL_FLAGS,
            rate_limit_per_user=_slow(record.rate_limit_per_user),
            bitrate=min(max(record.bitrate or BITRATE, 8_000), 320_000) if is_voice else None,
            user_limit=bounded(record.user_limit or 0, CONNECTIONS) if is_voice else None,
            voice_connection_limit=bounded(limit, CONNECTIONS) if is_voice and limit is not None else None,
            url=record.url if record.type == ChannelType.GUILD_LINK else None,
            default_auto_archive_duration=_archive_minutes(record.default_auto_archive_duration),
            default_thread_rate_limit_per_user=_slow(record.default_thread_rate_limit_per_user),
            owner_id=None if record.thread is None else place.account_of(record.thread.owner_id or 0) or None,
            forum=_forum(record) if record.type in THREAD_ONLY_CHANNEL_TYPES else None,
            overwrites=tuple(self._overwrites(place, record, to)),
        )

    @staticmethod
    def _overwrites(place: ImportPlace, record: ChannelRecord, to: ImportReport) -> list[Overwrite]:
        found = {}
        for one in record.overwrites:
            known = {OverwriteType.ROLE.value: place.role_ids, OverwriteType.MEMBER.value: place.people}
            target = known.get(one.type, {}).get(one.target_id)
            if target is None:
                to.trouble(
                    TroubleRecord(what="permission", name=f"{record.name}/{one.target_id}", reason="nobody has it")
                )
            else:
                allow, deny = one.allow & ALL_DEFINED, one.deny & ALL_DEFINED
                found[target] = Overwrite(target, one.type, allow & ~deny, deny)
        return [found[target] for target in sorted(found)]

    def _thread(self, channel: Channel, record: ChannelRecord) -> Thread:
        of = record.thread
        made_at = snowflake_time_ms(record.id)
        created_at = made_at if of is None or of.created_at is None else min(max(of.created_at, made_at), self._now_ms)
        minutes = _archive_minutes(10_080 if of is None else of.auto_archive_duration) or 10_080
        is_archived = of is None or of.archived  # it opens again with the first message
        return Thread(
            channel=channel,
            archived=is_archived,
            auto_archive_duration=minutes,
            archive_timestamp=created_at,
            locked=bool(of and of.locked),
            invitable=(of is None or of.invitable is not False) if channel.type == ChannelType.PRIVATE_THREAD else None,
            message_count=0,
            total_message_sent=0,
            member_count=0,
            created_at=created_at,
            archive_at=None if is_archived else self._now_ms + minutes * 60_000,
            applied_tags=() if of is None else of.applied_tags,
        )

    def add_person(
        self, connection: sqlite3.Connection, place: ImportPlace, record: PersonRecord, to: ImportReport
    ) -> None:
        """Somebody of the old place, as an account that nobody can sign in to; once, with the id if that is free."""
        if record.id in place.people:
            return
        account_id = self._account_id(connection, place, record)
        if account_id is None:
            user_id = record.id
            to.present["people"] += 1
            known = accounts.by_id(connection, user_id)
            is_bot = known is not None and known.bot
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
            is_bot = record.bot
            imports.note_thing(connection, "person", user_id, place.import_id)
            to.came["people"] += 1
        placeholders.insert(connection, Placeholder(place.guild_id, user_id, record.id, record.original_id))
        place.people[record.id] = user_id
        if is_bot:
            place.bots.add(user_id)

    def _account_id(self, connection: sqlite3.Connection, place: ImportPlace, record: PersonRecord) -> int | None:
        """The id for a new account; None where another guild has brought the same person, whom nobody has claimed."""
        if placeholders.is_unclaimed(connection, record.id):
            return None
        is_taken = (
            record.id > place.latest_id
            or placeholders.is_somebody(connection, record.id)
            or channels.type_of(connection, record.id) is not None
            or author_messages.last_of_author(connection, record.id) > 0  # somebody of whom another export did not tell
        )
        return self._snowflakes() if is_taken else record.id


def _emoji(character: str | None) -> str | None:
    return character[:EMOJI_CHARACTERS] if character else None


def _forum(record: ChannelRecord) -> Forum:
    tags = tuple(
        ForumTag(tag.id, tag.name[:20] or "?", tag.moderated, tag.emoji_id, _emoji(tag.emoji_name))
        for tag in record.tags[:20]
    )
    given = record.forum
    if given is None:
        return Forum(tags=tags)
    emoji_name = _emoji(given.emoji_name)
    return Forum(
        tags=tags,
        default_reaction=ForumReaction(given.emoji_id, emoji_name) if given.emoji_id or emoji_name else None,
        default_sort_order=given.sort_order if given.sort_order in set(ForumSortOrder) else None,
        default_layout=given.layout if given.layout in set(ForumLayout) else ForumLayout.NOT_SET.value,
        default_tag_setting=given.tag_setting if given.tag_setting in TAG_SETTINGS else "match_some",
    )
