"""The template of a guild, as the service hands it out beside an export: roles with what they may, and overwrites of
channels. It has no ids that count: roles and channels are found again by their names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.imports.discord_values import number_of, shown_text, whole_of
from chat.imports.form import ChannelRecord, OverwriteRecord, RoleRecord
from chat.imports.json_stream import NotJson
from chat.registries.permissions import ALL_DEFINED

EVERYONE: Final = "@everyone"


def made_id(guild_id: int, name: str) -> int:
    """An id for something that has none, the same each time: of the guild's own time, apart by a hash of the name."""
    digest = hashlib.blake2b(f"{guild_id} {name}".encode("utf-8", "replace"), digest_size=8).digest()
    return ((guild_id >> 22) + 1 << 22) | int.from_bytes(digest, "big") & 0x3FFFFF


@frozen
class GuildTemplate:
    """Roles and channels of the template."""

    _roles: tuple[Mapping[str, Any], ...]
    _channels: tuple[Mapping[str, Any], ...]

    def roles(self, guild_id: int) -> Iterator[RoleRecord]:
        """The roles, the one of everyone first."""
        for place, role in enumerate(self._roles):
            name = shown_text(role.get("name")) or "?"
            yield RoleRecord(
                id=self.role_id(role, guild_id),
                name=name,
                color=whole_of(role.get("color"), 0xFFFFFF),
                position=place,
                permissions=_mask(role.get("permissions")),
                hoist=bool(role.get("hoist")),
                mentionable=bool(role.get("mentionable")),
            )

    def role_id(self, role: Mapping[str, Any], guild_id: int) -> int:
        """The id that a role of the template gets."""
        name = shown_text(role.get("name")) or "?"
        is_everyone = name == EVERYONE or number_of(role.get("id")) is None
        return guild_id if is_everyone else made_id(guild_id, name)

    def by_name(self, guild_id: int) -> dict[str, int]:
        """The ids of roles by their names."""
        return {shown_text(role.get("name")) or "?": self.role_id(role, guild_id) for role in self._roles}

    def completed(self, record: ChannelRecord, guild_id: int) -> ChannelRecord:
        """A channel with what the template says of the one of its name."""
        found = [channel for channel in self._channels if shown_text(channel.get("name")) == record.name]
        if len(found) != 1:
            return record
        channel = found[0]
        return attrs.evolve(
            record,
            position=whole_of(channel.get("position"), 10_000),
            nsfw=bool(channel.get("nsfw")),
            rate_limit_per_user=whole_of(channel.get("rate_limit_per_user"), 21_600),
            overwrites=tuple(self._overwrites(channel, guild_id)),
        )

    def _overwrites(self, channel: Mapping[str, Any], guild_id: int) -> Iterator[OverwriteRecord]:
        ids = {str(role.get("id")): self.role_id(role, guild_id) for role in self._roles}
        given = channel.get("permission_overwrites")
        for overwrite in given if isinstance(given, list) else ():
            target = ids.get(str(overwrite.get("id"))) if isinstance(overwrite, dict) else None
            if target is not None and overwrite.get("type") in (0, "0", "role"):
                allow, deny = _mask(overwrite.get("allow")), _mask(overwrite.get("deny"))
                yield OverwriteRecord(target_id=target, type=0, allow=allow & ~deny, deny=deny)


def _mask(value: object) -> int:
    """What a number of bits allows of what this server has."""
    number = (
        int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 40 else value
    )
    return number & ALL_DEFINED if type(number) is int and number >= 0 else 0


def read_template(value: object) -> GuildTemplate:
    """The template in a file. Raises NotJson for another file."""
    guild = value.get("serialized_source_guild") if isinstance(value, dict) else None
    if not isinstance(guild, dict):
        raise NotJson("it is no template of a guild")
    roles, channels = guild.get("roles"), guild.get("channels")
    if not isinstance(roles, list) or not isinstance(channels, list):
        raise NotJson("the template has no roles or no channels")
    return GuildTemplate(tuple(filter(_is_object, roles)), tuple(filter(_is_object, channels)))


def _is_object(value: object) -> bool:
    return isinstance(value, dict)
