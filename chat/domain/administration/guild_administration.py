"""What the operator does to guilds from the command line, and how a server tells of it.

The features that Modify guild does not reach are the operator's (guilds.md, Guild features; instance.md, Command line).
A running server learns of a change from the note that is written with it (`chat.store.outside_changes`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

import attrs

from chat.bus.audience import ToGuild
from chat.bus.bus import Bus, Event, GuildAvailabilityChanged, GuildStateChanged
from chat.clock import Clock
from chat.domain.administration.admin_audit_log import AdminAuditLog, the_instance
from chat.domain.administration.administered_guilds import features_metadata
from chat.domain.guilds.guild_changes import changes_availability
from chat.domain.standing.guild_states import GuildState, GuildStates
from chat.errors import OperatorError
from chat.registries.admin_actions import AdminAction
from chat.registries.events import EventName
from chat.registries.guild_features import GuildFeature
from chat.store import outside_changes
from chat.store.database import Database
from chat.store.guilds import guilds
from chat.store.guilds.guilds import Guild


def features_of(names: Collection[str]) -> frozenset[GuildFeature]:
    """The features with these names, in any case. Raises OperatorError for a name that is none."""
    found = set()
    for name in names:
        try:
            found.add(GuildFeature(name.upper()))
        except ValueError:
            raise OperatorError(f"{name!r} is no guild feature: expected one such as VANITY_URL") from None
    return frozenset(found)


async def change_features(
    database: Database,
    clock: Clock,
    log: AdminAuditLog,
    guild_id: int,
    add: Collection[str],
    remove: Collection[str],
) -> Guild:
    """Give a guild features and take others away; the guild as it is then.

    What the guild has already is added, and what it lacks is removed, without a word. Raises OperatorError for a guild
    that is not there, a name that is no feature, and a feature that is to be both added and removed.
    """
    added, removed = features_of(add), features_of(remove)
    if both := added & removed:
        raise OperatorError(f"{sorted(both)[0]} cannot be both added and removed")
    now = clock.now_ms()

    def unit(connection: sqlite3.Connection) -> Guild:
        before = guilds.by_id(connection, guild_id)
        if before is None:
            raise OperatorError(f"there is no guild {guild_id}")
        after = attrs.evolve(before, features=before.features - removed | added)
        if after != before:
            guilds.replace(connection, after)
            outside_changes.record(connection, outside_changes.GUILD_CHANGED, {"guild_id": guild_id}, now)
            metadata = features_metadata(added, removed, after)
            log.record(connection, the_instance(), AdminAction.UPDATE_FEATURES, guild_id, metadata)
        return after

    return await database.write(unit)


def take_up(database: Database, guild_states: GuildStates, bus: Bus, guild_id: int) -> None:
    """Read a guild anew that was changed beside this server, and tell those who see it.

    A guild that is not in memory has no session connected to it, so there is nobody to tell.
    """
    state, stored = guild_states.loaded(guild_id), guilds.by_id(database.reader, guild_id)
    if state is not None and stored is not None:
        before = state.guild
        state.put_guild(stored)
        announce(bus, state, before)


def announce(bus: Bus, state: GuildState, before: Guild) -> None:
    """Guild Update where the guild is not as it was `before`, and what follows from other features."""
    after = state.guild
    if attrs.evolve(before, member_count=after.member_count) == after:
        return
    bus.publish(
        GuildStateChanged(after.id),
        Event(EventName.GUILD_UPDATE, {**state.guild_object(), "guild_id": str(after.id)}, ToGuild(after.id)),
    )
    if changes_availability(before, after):
        bus.publish(GuildAvailabilityChanged(after.id))
