"""The operation that sends messages from the instance itself (administration.md, Messages from the instance)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.fields import Items, Snowflake
from chat.api.operation import Request
from chat.api.schemas.shapes import COUNT, SNOWFLAKE, wire_object
from chat.domain.administration.assemble import AdministrationArea
from chat.errors import FieldError, InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()

ORDERED = wire_object(
    "SystemDmOrdered",
    {"job_id": SNOWFLAKE, "requested": COUNT},
    description="The job that delivers them; the ledger of jobs tells how far it is.",
)


@attrs.frozen(kw_only=True)
class SendSystemDm:
    """The body of POST /v1/admin/system-dms: to these accounts, or to everyone."""

    content: str
    user_ids: Annotated[list[Snowflake], Items(1, 1_000)] | None = None
    everyone: bool = False


@routes.admin_operation(
    "POST",
    "/v1/admin/system-dms",
    acls=[Acl.SYSTEM_DM_SEND],
    audit=AdminAction.SEND_SYSTEM_DM,
    bucket=buckets.MESSAGE,
    body=SendSystemDm,
    answers=ORDERED,
)
async def send_system_dm(request: Request, administration: AdministrationArea, body: SendSystemDm) -> object:
    """Send a message from the instance; it is delivered after this has answered."""
    if (body.user_ids is None) is not body.everyone:
        raise InvalidFormBody([FieldError("user_ids", "INVALID_FORMAT"), FieldError("everyone", "INVALID_FORMAT")])
    return await administration.system_dms.order(acting(request), body.content, body.user_ids)
