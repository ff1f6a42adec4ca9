"""Operations on the room that files take (administration.md, Storage). The console asks for it often: reading it leaves
no entry in the audit log."""

from __future__ import annotations

from typing import Annotated

from chat import wire
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Items
from chat.api.operation import Request
from chat.classes import frozen
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.jobs import CleanUp

routes = AdminRoutes()


@frozen
class CleanStorage:
    """The body of POST /v1/admin/storage/clean; a dry run counts and deletes nothing."""

    kinds: Annotated[list[CleanUp], Items(1, len(CleanUp))]
    dry_run: bool = True


@routes.admin_operation(
    "GET",
    "/v1/admin/storage",
    [(Acl.INSTANCE_CONFIG_VIEW, Acl.GATEWAY_MEMORY_STATS)],
    audit=None,
)
async def read_storage(request: Request, administration: AdministrationArea) -> wire.Storage:
    """What takes the room, by kind, guild and account; and how backups are."""
    return await administration.storage.overview()


@routes.admin_operation(
    "POST",
    "/v1/admin/storage/clean",
    [Acl.INSTANCE_CONFIG_UPDATE],
    AdminAction.CLEAN_STORAGE,
)
async def clean_storage(
    request: Request, administration: AdministrationArea, body: CleanStorage
) -> wire.AdminCleanStorageAnswer:
    """Order a clean-up; the ledger of jobs tells what came of it."""
    return await administration.storage.order(acting(request), body.kinds, dry_run=body.dry_run)
