"""Archives as the wire has them (administration.md, Archives; accounts.md, One's own archive)."""

from __future__ import annotations

from typing import Final

from chat import wire
from chat.clock import iso_timestamp, optional_timestamp
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import ArchiveState
from chat.store.administration.archives import Archive

OWN_PAUSE_MS: Final = 24 * 60 * 60_000
"""How long after one the next can be ordered, unless it failed."""


def archive_object(archive: Archive) -> wire.Archive:
    """An archive as the wire has it."""
    return {
        "archive_id": str(archive.id),
        "subject_type": str(archive.subject_type),
        "subject_id": str(archive.subject_id),
        "requested_by": str(archive.requested_by),
        "requested_at": iso_timestamp(archive.requested_at),
        "started_at": optional_timestamp(archive.started_at),
        "completed_at": optional_timestamp(archive.completed_at),
        "failed_at": optional_timestamp(archive.failed_at),
        "file_size": None if archive.file_size is None else str(archive.file_size),
        "progress_percent": archive.progress_percent,
        "progress_step": archive.progress_step,
        "error_message": archive.error_message,
        "download_url_expires_at": optional_timestamp(archive.download_url_expires_at),
        "expires_at": iso_timestamp(archive.expires_at),
    }


def own_archive_object(archive: Archive) -> wire.OwnArchive:
    """The archive of one's own account as the wire has it: `harvest_id` and `created_at` are other names of `id` and
    `requested_at`. Why it failed is for administrators."""
    next_at = archive.requested_at if archive.failed_at is not None else archive.requested_at + OWN_PAUSE_MS
    whole = archive_object(archive)
    return {
        "id": str(archive.id),
        "harvest_id": str(archive.id),
        "status": _state_of(archive),
        "include_attachments": archive.include_attachments,
        "created_at": whole["requested_at"],
        "next_at": iso_timestamp(next_at),
        "error_message": None if archive.failed_at is None else ErrorCode.HARVEST_FAILED.message,
        "requested_at": whole["requested_at"],
        "started_at": whole["started_at"],
        "completed_at": whole["completed_at"],
        "failed_at": whole["failed_at"],
        "file_size": whole["file_size"],
        "progress_percent": whole["progress_percent"],
        "progress_step": whole["progress_step"],
        "download_url_expires_at": whole["download_url_expires_at"],
        "expires_at": whole["expires_at"],
    }


def _state_of(archive: Archive) -> ArchiveState:
    if archive.failed_at is not None:
        return ArchiveState.FAILED
    if archive.completed_at is not None:
        return ArchiveState.COMPLETED
    return ArchiveState.PENDING if archive.started_at is None else ArchiveState.PROCESSING
