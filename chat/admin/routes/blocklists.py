"""Operations on the blocklists: reading each of them, asking it, adding to it, taking from it (administration.md,
Blocklists).

Who may ask a list may read all of it. Values go in bodies: pages and phrases have no place in a path.
"""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Length, Range
from chat.api.operation import Request
from chat.classes import frozen
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.administration.blocklists import VALUE_LENGTH
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.blocklists import BLOCKLISTS, Blocklist

routes = AdminRoutes()

REASON_LENGTH: Final = 512
AFTER_LENGTH: Final = 4 * VALUE_LENGTH
"""Characters; the form in which values are compared can be longer than what was given."""


@frozen
class ListEntries:
    """The query of GET /v1/admin/blocklists/{list}."""

    after: Annotated[str, Length(0, AFTER_LENGTH)] = ""
    limit: Annotated[int, Range(1, 200)] = 50


@frozen
class Value:
    """The body of POST …/check and of DELETE."""

    value: Annotated[str, Length(1, AFTER_LENGTH)]


@frozen
class NewEntry(Value):
    """The body of POST: what is blocked, and why; without `reason` it is that of X-Audit-Log-Reason."""

    reason: Annotated[str, Length(0, REASON_LENGTH)] | None = None


def declare(name: Blocklist) -> None:
    """The four operations on one list."""
    kind, path = BLOCKLISTS[name], f"/v1/admin/blocklists/{name}"

    async def list_entries(
        request: Request, administration: AdministrationArea, query: ListEntries
    ) -> wire.BlocklistPage:
        return await administration.blocklists.page(acting(request), name, query.after, query.limit)

    async def check_value(request: Request, administration: AdministrationArea, body: Value) -> wire.BlocklistAnswer:
        return await administration.blocklists.check(acting(request), name, body.value)

    async def add_entry(request: Request, administration: AdministrationArea, body: NewEntry) -> wire.BlockedValue:
        who = acting(request)
        reason = who.reason if body.reason is None else body.reason
        return await administration.blocklists.add(who, name, body.value, reason)

    async def remove_entry(request: Request, administration: AdministrationArea, body: Value) -> None:
        await administration.blocklists.remove(acting(request), name, body.value)

    words = name.value.replace("_", " ")
    for handler, operation_name, text in (
        (list_entries, f"list_blocklist_{name}", f"What stands on the blocklist of {words} values, in order."),
        (check_value, f"check_blocklist_{name}", f"Whether a value is blocked by the blocklist of {words} values."),
        (add_entry, f"add_to_blocklist_{name}", f"Put a value on the blocklist of {words} values."),
        (remove_entry, f"remove_from_blocklist_{name}", f"Take a value off the blocklist of {words} values."),
    ):
        handler.__name__, handler.__doc__ = operation_name, text

    routes.admin_operation("GET", path, [kind.check], kind.listed)(list_entries)
    routes.admin_operation("POST", f"{path}/check", [kind.check], kind.checked, bucket=buckets.LOOKUP)(check_value)
    routes.admin_operation("POST", path, [kind.add], kind.added)(add_entry)
    routes.admin_operation("DELETE", path, [kind.remove], kind.removed)(remove_entry)


for listed in Blocklist:
    declare(listed)


@routes.admin_operation(
    "POST",
    "/v1/admin/users/{user_id}/avatar-block",
    [Acl.BAN_AVATAR_HASH_ADD],
    AdminAction.BAN_AVATAR_HASH,
)
async def block_avatar(request: Request, administration: AdministrationArea, user_id: int) -> wire.BlockedValue:
    """Block the avatar that an account shows; no account shows it any more."""
    return await administration.blocklists.block_avatar(acting(request), user_id)
