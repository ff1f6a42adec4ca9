"""What takes up the disk (administration.md, Storage)."""

from __future__ import annotations

from typing import TypedDict

from chat.wire.values import Count, Snowflake, Timestamp


class StorageDisk(TypedDict):
    """The disk of the data directory."""

    total_bytes: Count
    """The size of the disk, in bytes."""
    free_bytes: Count
    """Room that is left, in bytes."""
    warn_bytes: Count
    """Room under which administrators are warned, in bytes; 0 for no warning."""
    is_low: bool
    """Whether less room is left than administrators are warned at."""


class StoragePart(TypedDict):
    """Files of one kind."""

    part: str
    """The kind of files, such as `message_files`."""
    bytes: Count
    """How many bytes it takes."""
    files: Count
    """How many files there are of the kind."""


class StorageGuild(TypedDict):
    """Files of messages in a guild; guild 0 stands for private conversations."""

    guild_id: Snowflake
    """Id of the guild; null outside of guilds."""
    name: str | None
    """The name that people read."""
    icon: str | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    bytes: Count
    """How many bytes it takes."""
    files: Count
    """How many files lie in the guild's channels."""


class StorageAccount(TypedDict):
    """Files that an account has uploaded."""

    user_id: Snowflake
    """Id of the account."""
    username: str | None
    """The name that identifies the account, 1 to 32 letters, digits and underscores."""
    discriminator: str | None
    """Four digits that tell equal usernames apart."""
    bytes: Count
    """How many bytes it takes."""
    files: Count
    """How many files the account has uploaded."""


class StorageBackup(TypedDict):
    """The last attempt to back the instance up, and the last backup that is whole."""

    directory: str
    """The directory that the backups lie in."""
    tried_at: Timestamp
    """When a backup was tried last."""
    failure: str | None
    """Why the last attempt made no backup; null where it did."""
    made_at: Timestamp | None
    """When the last whole backup was made; null before the first."""
    bytes: Count
    """How many bytes it takes."""
    new_bytes: Count
    """What the last backup added to its disk, in bytes."""
    files: Count
    """How many files the last whole backup has."""
    kept: Count
    """How many backups lie in the directory."""
    remarks: list[str]
    """What the check of the backup says of the instance itself."""


class Storage(TypedDict):
    """What takes the room; counts may be half a minute old."""

    counted_at: Timestamp
    """When it was counted."""
    disk: StorageDisk
    """The disk that the data directory lies on."""
    parts: list[StoragePart]
    """What takes the room, by kind, the largest first."""
    guilds: list[StorageGuild]
    """The guilds with the most files, the largest first."""
    accounts: list[StorageAccount]
    """The accounts with the most files, the largest first."""
    backup: StorageBackup | None
    """How backups are; null before the first attempt."""
