"""Durable work: the kinds of jobs and the states that they go through (administration.md, Jobs), and what requests
leave to be finished, should the server end before they do it themselves (`chat.domain.policy.errands`)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from chat.classes import frozen
from chat.registries.acls import Acl


class JobStatus(enum.StrEnum):
    """Where a job stands."""

    PENDING = "pending"
    """It waits for its time, or for its turn."""

    RUNNING = "running"
    """It is being done, or was when the server ended."""

    COMPLETED = "completed"
    """It is done."""

    FAILED = "failed"
    """It could not be done."""

    CANCELLED = "cancelled"
    """Somebody stopped it; what it had done by then stays done."""


class JobType(enum.StrEnum):
    """What is to be done: `task_type` of the ledger."""

    MESSAGE_SHRED = "message_shred"
    """Delete listed messages of an account."""

    USER_ARCHIVE = "user_archive"
    """Put together what the instance has of an account."""

    GUILD_ARCHIVE = "guild_archive"
    """Put together what there is in a guild."""

    ACCOUNT_ERASURE = "account_erasure"
    """Erase an account whose deadline has come."""

    SUBSCRIPTION_CANCELLATION = "subscription_cancellation"
    """End what an account pays for by the period, and pay the last of it back."""

    UPDATE_USER_FLAGS = "update_user_flags"
    """Set and clear flags of many accounts."""

    UPDATE_GUILD_FEATURES = "update_guild_features"
    """Give features to many guilds, and take others away."""

    ADD_GUILD_MEMBERS = "add_guild_members"
    """Make many accounts members of a guild."""

    SCHEDULE_USER_DELETIONS = "schedule_user_deletions"
    """Schedule the erasure of many accounts."""

    SYSTEM_DM = "system_dm"
    """Write to accounts in the name of the instance."""

    STORAGE_CLEAN_UP = "storage_clean_up"
    """Delete files that nothing needs, or count them."""

    MESSAGE_SEARCH_RENEWAL = "message_search_renewal"
    """Give entries that an earlier version wrote into the index of messages the present form."""

    METADATA_REMOVAL = "metadata_removal"
    """Take what tells of their makers out of pictures and films that were stored with it."""


@frozen
class JobKind:
    """How jobs of a type are treated.

    `max_attempts` counts failures: a server that ends under a job is none, it goes on from its last step.
    """

    max_attempts: int
    can_be_cancelled: bool
    held_by_orderer: Acl | None = None
    """What whoever ordered it has to hold until it is done, where it changes many things one after the other: the rest
    is not done for somebody who may not do it any more."""


JOB_KINDS: Final[Mapping[JobType, JobKind]] = MappingProxyType(
    {
        JobType.MESSAGE_SHRED: JobKind(max_attempts=1, can_be_cancelled=True),
        JobType.USER_ARCHIVE: JobKind(max_attempts=3, can_be_cancelled=True),
        JobType.GUILD_ARCHIVE: JobKind(max_attempts=3, can_be_cancelled=True),
        JobType.ACCOUNT_ERASURE: JobKind(max_attempts=20, can_be_cancelled=False),
        JobType.SUBSCRIPTION_CANCELLATION: JobKind(max_attempts=12, can_be_cancelled=True),
        JobType.UPDATE_USER_FLAGS: JobKind(
            max_attempts=3, can_be_cancelled=True, held_by_orderer=Acl.BULK_UPDATE_USER_FLAGS
        ),
        JobType.UPDATE_GUILD_FEATURES: JobKind(
            max_attempts=3, can_be_cancelled=True, held_by_orderer=Acl.BULK_UPDATE_GUILD_FEATURES
        ),
        JobType.ADD_GUILD_MEMBERS: JobKind(
            max_attempts=3, can_be_cancelled=True, held_by_orderer=Acl.BULK_ADD_GUILD_MEMBERS
        ),
        JobType.SCHEDULE_USER_DELETIONS: JobKind(
            max_attempts=3, can_be_cancelled=True, held_by_orderer=Acl.BULK_DELETE_USERS
        ),
        JobType.SYSTEM_DM: JobKind(max_attempts=3, can_be_cancelled=True, held_by_orderer=Acl.SYSTEM_DM_SEND),
        JobType.STORAGE_CLEAN_UP: JobKind(max_attempts=3, can_be_cancelled=True),
        JobType.MESSAGE_SEARCH_RENEWAL: JobKind(max_attempts=20, can_be_cancelled=False),
        JobType.METADATA_REMOVAL: JobKind(max_attempts=20, can_be_cancelled=False),
    }
)
"""Every kind. A shred that failed is not tried again (administration.md, Jobs); an erasure has to be, and so
have a renewal and a removal of metadata, which nobody orders by hand."""


class ErrandKind(enum.StrEnum):
    """What is to be finished."""

    FORGET_GUILD = "forget_guild"
    """A guild was deleted: the settings of its members still know it."""

    DELETE_OWN_MESSAGES = "delete_own_messages"
    """Everything that an account has written, wherever that is."""

    DELETE_GUILD_MESSAGES = "delete_guild_messages"
    """What an author has written in a guild; perhaps the author leaves it then."""

    DELETE_CHANNEL_MESSAGES = "delete_channel_messages"
    """What an author has written in a channel."""

    PURGE = "purge"
    """Chosen messages of a channel, or everything in somebody's personal notes."""

    DELETE_APPLICATION = "delete_application"
    """An application, after its bot has left its guilds."""

    CLEAR_RELATIONSHIPS = "clear_relationships"
    """What an account has with others in one category."""

    RESOLVE_REPORTS = "resolve_reports"
    """The pending reports against an account that is to be deleted for misconduct."""

    MOVE_CLAIMED = "move_claimed"
    """What was a placeholder's and is the claimant's now, or the other way round."""


class ArchiveSubject(enum.StrEnum):
    """What an archive holds."""

    USER = "user"
    GUILD = "guild"


class ArchiveState(enum.StrEnum):
    """How far the archive of one's own account is."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class CleanUp(enum.StrEnum):
    """What a clean-up deletes."""

    ORPHANS = "orphans"
    """Files that nothing speaks of."""

    OLD_RENDITIONS = "old_renditions"
    """Resized and converted pictures that nothing has asked for in a month; they can be made again."""

    DELETED_ACCOUNTS = "deleted_accounts"
    """What deleted accounts left behind."""
