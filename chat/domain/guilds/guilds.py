"""Guilds: Create guild, List current user guilds, Get guild (guilds.md, Create guild)."""

from __future__ import annotations

import functools
import operator
import sqlite3
from collections.abc import Callable, Iterator
from typing import Final, cast

import attrs

from chat import wire
from chat.auth.principal import CredentialKind, Principal
from chat.bus.bus import GuildJoined
from chat.classes import define, frozen
from chat.domain.accounts import guild_folders
from chat.domain.core import Core
from chat.domain.guilds.guild_plan import default_plan, founded
from chat.domain.guilds.guild_template import plan_of, read_template
from chat.domain.policy import images
from chat.domain.policy.images import ICONS
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.standing.guild_objects import EMOJIS, STICKERS, guild_object
from chat.domain.standing.permissions import ADMINISTRATOR, sees_threads, without_thread_bits
from chat.domain.standing.user_objects import limits_of, user_settings_object
from chat.domain.standing.verification import has_verified_address, is_unclaimed
from chat.errors import ApiError, InvalidFormBody
from chat.protocol.visible_text import tidy
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.guild_features import NEW_GUILD_FEATURES
from chat.registries.permissions import FULL_MASK
from chat.store.accounts import user_settings
from chat.store.accounts.accounts import Account
from chat.store.guilds import channels, guilds, members, roles
from chat.store.guilds.guilds import Guild

NAME_CHARACTERS: Final = 100
"""The longest name of a guild (guilds.md, Create guild)."""


@frozen
class GuildPage:
    """Which of the caller's guilds to list; if both cursors are given, `after` counts."""

    before: int | None = None
    after: int | None = None
    limit: int = 200
    with_counts: bool = False


@frozen(kw_only=True)
class GuildWish:
    """A guild as it is asked for: the body of Create guild, of which only the types were judged."""

    name: str
    icon: str | None = None
    """As base64 or as a data URL."""

    empty_features: bool = False
    template: object = None
    """The template as it came; None is the default guild."""


@frozen
class _Listed:
    """A page of guilds with the caller's masks in them."""

    guilds: list[Guild]
    granted: dict[int, int]


WHOLE_MAXIMUM: Final = 1_024
"""How many whole guild objects are kept, one for each set of visible channels; with more, all are forgotten."""


_NOTHING_LISTED: Final[wire.ListedGuildExtras] = {}


@define(kw_only=True, eq=False)
class Guilds:
    """The operations on guilds. `online_count` says how many members of a guild are online."""

    _core: Core
    _media: MediaLibrary
    _online_count: Callable[[int], int]
    _whole: dict[int, tuple[tuple[object, ...], tuple[int, int], wire.GuildWithCollections]] = attrs.field(
        factory=dict, init=False
    )
    """Answers of Get guild, by the identity of the list of channels in them, with everything that they were made
    from."""

    def require_may_create(self, principal: Principal) -> None:
        """What Create guild asks of the account before it looks at the body (guilds.md, Create guild).

        That the account is no bot and not limited is asked even before this.

        :raises ApiError: UNCLAIMED_ACCOUNT_CANNOT_CREATE_GUILDS, GUILD_CREATION_EMAIL_VERIFICATION_REQUIRED,
            SINGLE_COMMUNITY_CANNOT_CREATE_GUILDS.
        """
        account = principal.account
        if is_unclaimed(account):
            raise ApiError(ErrorCode.UNCLAIMED_ACCOUNT_CANNOT_CREATE_GUILDS)
        if not has_verified_address(account):
            raise ApiError(ErrorCode.GUILD_CREATION_EMAIL_VERIFICATION_REQUIRED)
        if self._core.policy.single_community:
            raise ApiError(ErrorCode.SINGLE_COMMUNITY_CANNOT_CREATE_GUILDS)

    async def create(
        self,
        principal: Principal,
        wish: GuildWish,
        besides: Callable[[sqlite3.Connection, int], None] = lambda _connection, _guild_id: None,
    ) -> wire.Guild:
        """Create guild; the caller owns it. Everything is written, or nothing. The unit calls `besides` with its id.

        The order of checks is that of guilds.md, Create guild: account, body, content policy, guild limit, template.

        :raises ApiError: as `require_may_create`; CONTENT_BLOCKED, MAX_GUILDS, GUILD_TEMPLATE_INVALID.
        :raises InvalidFormBody: STRING_LENGTH_INVALID at `name`; at `icon` as `MediaLibrary.prepare`; below `template`
            as `read_template`.
        """
        self.require_may_create(principal)
        return await self._create(principal, wish, besides)

    async def create_for(
        self, account: Account, wish: GuildWish, besides: Callable[[sqlite3.Connection, int], None]
    ) -> wire.Guild:
        """As `create`, by the command line: the account owns the guild whether or not it might create one. The unit
        calls `besides` with the guild's id.

        :raises ApiError: CONTENT_BLOCKED, MAX_GUILDS, GUILD_TEMPLATE_INVALID.
        :raises InvalidFormBody: as `create`.
        """
        return await self._create(Principal(account, CredentialKind.SESSION), wish, besides)

    def take_up(self, guild_id: int, user_id: int) -> None:
        """Connect the owner of a guild that was made beside this server, and tell of it."""
        settings = user_settings_object(user_settings.of_user(self._core.database.reader, user_id))
        self._core.bus.publish(GuildJoined(guild_id, user_id), guild_folders.settings_changed(user_id, settings))

    async def _create(
        self, principal: Principal, wish: GuildWish, besides: Callable[[sqlite3.Connection, int], None]
    ) -> wire.Guild:
        """Make the guild; `besides` is done in the same unit, with its id."""
        account, limits = principal.account, self._core.settings.limits
        name = normalised_name(wish.name)
        template = None
        if wish.template is not None:
            template = await self._media.storage.computed(read_template, wish.template, limits, guard=principal.guard)
        guild_id = self._core.snowflakes()
        icon = (
            None
            if wish.icon is None
            else await self._media.prepare(ICONS, guild_id, wish.icon, path="icon", guard=principal.guard)
        )
        for text in (name, *_texts(wish.template)):
            self._core.blocked.require_text(text)
        max_guilds = limits_of(self._core.settings, account, self._core.clock.now_ms()).max_guilds

        def require_room(connection: sqlite3.Connection) -> None:
            if guilds.count_of_user(connection, account.id) >= max_guilds:
                raise ApiError(ErrorCode.MAX_GUILDS)

        await self._core.database.read(require_room)
        new = founded(
            default_plan(limits) if template is None else plan_of(template),
            guild_id=guild_id,
            name=name,
            icon=None if icon is None else icon.hash,
            owner_id=account.id,
            features=frozenset() if wish.empty_features else frozenset(NEW_GUILD_FEATURES),
            snowflakes=self._core.snowflakes,
        )

        def unit(connection: sqlite3.Connection) -> wire.UserSettings | None:
            require_room(connection)
            guilds.insert(connection, new.guild)
            roles.insert(connection, new.roles)
            channels.insert(connection, new.channels)
            members.insert(connection, new.owner)
            images.store(connection, icon)
            besides(connection, guild_id)
            return guild_folders.enter_guild(connection, account, guild_id)

        def then(settings: wire.UserSettings | None) -> None:
            self._core.bus.publish(GuildJoined(guild_id, account.id))
            if settings is not None:
                self._core.bus.publish(guild_folders.settings_changed(account.id, settings))

        async with self._media.kept(icon, guard=principal.guard):
            await self._core.database.write(unit, then, guard=principal.guard)
        return guild_object(new.guild)

    async def of_account(self, principal: Principal, page: GuildPage) -> list[wire.ListedGuild]:
        """List current user guilds: ascending by id; guilds that are unavailable are listed too."""
        listed = await self._core.database.read(functools.partial(_list, principal.user_id, page))
        threads = sees_threads(principal)
        return [self._listed_object(guild, listed, page, principal.user_id, threads) for guild in listed.guilds]

    async def get(self, principal: Principal, guild_id: int) -> wire.GuildWithCollections:
        """Get guild: the object with roles, expressions, the channels that the caller sees, and counts. The same object
        until something in it changes.

        :raises ApiError: as `Access.guild`.
        """
        state = self._core.access.guild(principal, guild_id).state
        channels = state.channel_objects(state.visible_channels(principal.user_id), threads=True)
        parts = (
            state.guild_object(),
            state.role_objects(threads=sees_threads(principal)),
            state.expression_objects(EMOJIS),
            state.expression_objects(STICKERS),
            channels,
        )
        counts = state.member_count, self._online_count(guild_id)
        kept = self._whole.get(id(channels))
        if kept is None or kept[1] != counts or any(map(operator.is_not, kept[0], parts)):
            if len(self._whole) >= WHOLE_MAXIMUM:
                self._whole.clear()
            guild, roles, emojis, stickers, _ = parts
            whole: wire.GuildWithCollections = {
                **guild,
                "roles": roles,
                "emojis": emojis,
                "stickers": cast("list[wire.Sticker]", stickers),
                "channels": channels,
                "member_count": counts[0],
                "online_count": counts[1],
            }
            kept = self._whole[id(channels)] = parts, counts, whole
        return kept[2]

    async def roles(self, principal: Principal, guild_id: int) -> list[wire.Role]:
        """The roles of a guild, lowest first.

        :raises ApiError: as `Access.guild`.
        """
        return self._core.access.guild(principal, guild_id).state.role_objects(threads=sees_threads(principal))

    async def channels(self, principal: Principal, guild_id: int) -> list[wire.GuildChannel]:
        """The channels of a guild that the caller sees, by position.

        :raises ApiError: as `Access.guild`.
        """
        state = self._core.access.guild(principal, guild_id).state
        return state.channel_objects(state.visible_channels(principal.user_id), threads=True)

    def _listed_object(
        self, guild: Guild, listed: _Listed, page: GuildPage, user_id: int, threads: bool
    ) -> wire.ListedGuild:
        data: wire.ListedGuild = {**guild_object(guild), **_NOTHING_LISTED}
        is_known = guild.id not in self._core.guild_states.missing_guild_ids
        if is_known:
            mask = listed.granted[guild.id]
            if guild.owner_id == user_id or mask & ADMINISTRATOR:
                mask = FULL_MASK
            data["permissions"] = str(mask if threads else without_thread_bits(mask))
        if threads:
            data["threads_active"] = True
        if page.with_counts and not self._core.guild_states.counts_failing:
            data["approximate_member_count"] = guild.member_count if is_known else 0
            data["approximate_presence_count"] = self._online_count(guild.id) if is_known else 0
        return data


def normalised_name(name: str) -> str:
    """A guild's name as it is stored: NFC, without control characters, trimmed (http.md, Validation).

    :raises InvalidFormBody: STRING_LENGTH_INVALID at `name` unless 1 to 100 characters are left.
    """
    kept = tidy(name)
    if not 1 <= len(kept) <= NAME_CHARACTERS:
        raise InvalidFormBody.at("name", FieldCode.STRING_LENGTH_INVALID)
    return kept


def _texts(value: object) -> Iterator[str]:
    """Every text of a JSON value, however deep."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)


def _list(user_id: int, page: GuildPage, connection: sqlite3.Connection) -> _Listed:
    """A page, in a reader's thread. A cursor that names no guild of the account's counts as absent."""
    found = _page(connection, user_id, page)
    return _Listed(found, roles.granted(connection, user_id, [guild.id for guild in found]))


def _page(connection: sqlite3.Connection, user_id: int, page: GuildPage) -> list[Guild]:
    if page.after is not None:
        after = page.after if members.exists(connection, page.after, user_id) else 0
        return guilds.of_user_after(connection, user_id, after, page.limit)
    if page.before is not None and members.exists(connection, page.before, user_id):
        return guilds.of_user_before(connection, user_id, page.before, page.limit)
    return guilds.of_user_after(connection, user_id, 0, page.limit)
