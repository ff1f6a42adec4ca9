"""Every administrative operation, over real sockets, with every kind of credential that the documents tell apart by
what it allows and by how its owner stands (wire facts 7.1; document 002, Authentication 1).

Beside tests/conformance/test_credential_matrix.py, which presents credentials in every form, this one gives them
exactly the ACLs of the operation at hand, or all but those.

Area: administration. Rules: 002.auth, 002.conventions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

import attrs
import pytest

from chat.admin.operation import AdminOperation
from chat.registries.acls import ACLS, Acl
from chat.registries.scopes import ADMIN_APPLICATION_ID, ADMIN_SCOPE
from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions, accounts
from chat.store.accounts.account_deletions import AccountDeletion
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.samples import operations
from tests.conformance.presented_credentials import DAY_MS, Issuer
from tests.conformance.raw_requests import RawClient
from tests.conformance.test_credential_matrix import ACCESS_CODES, ask

AUTHENTICATE: Final = str(Acl.ADMIN_AUTHENTICATE)
LET_IN: Final = "in"
UNAUTHORIZED: Final = "401 UNAUTHORIZED"
DENIED: Final = "403 ACCESS_DENIED"
POWERLESS: Final = "403 MISSING_PERMISSIONS"
MISSING: Final = "403 MISSING_ACL"


@pytest.fixture
def chat_server_options(chat_server_options: dict[str, Any]) -> dict[str, Any]:
    return {**chat_server_options, "sockets": True}


class Wallet:
    """Makes credentials, each once; `own` are the ACLs of the operation at hand, one of each set that it names."""

    def __init__(self, world: World, server: ChatServer) -> None:
        self.issuer = Issuer(world, server)
        self.own: tuple[str, ...] = ()
        self._people: dict[tuple[object, ...], int] = {}
        self._made: dict[tuple[object, ...], str] = {}

    @property
    def others(self) -> tuple[str, ...]:
        """Everything but the wildcard and the operation's own."""
        return tuple(str(acl) for acl in ACLS if acl not in {Acl.EVERYTHING, *self.all_of_operation})

    all_of_operation: frozenset[str] = frozenset()

    async def person(self, acls: Iterable[str], state: str = "") -> int:
        """An account with these ACLs, in this state."""
        key = (tuple(acls), state)
        if key not in self._people:
            self._people[key] = await self.issuer.person(acls=key[0])
            await self._put_into(self._people[key], state)
        return self._people[key]

    async def _put_into(self, user_id: int, state: str) -> None:
        changes: dict[str, dict[str, int]] = {
            "banned": {"flags": int(UserFlag.DISABLED), "temp_banned_until": self.issuer.now + DAY_MS},
            "banned once": {"flags": int(UserFlag.DISABLED), "temp_banned_until": self.issuer.now - 1},
            "disabled": {"flags": int(UserFlag.DISABLED)},
            "deleted": {"flags": int(UserFlag.DELETED)},
        }
        ordered = AccountDeletion(user_id, self.issuer.now + DAY_MS, 2, None, None, user_id, self.issuer.now)

        def unit(connection: Any) -> None:
            account = accounts.by_id(connection, user_id)
            assert account is not None
            accounts.replace(connection, attrs.evolve(account, **changes.get(state, {})))
            if state == "about to be deleted":
                account_deletions.put(connection, ordered)

        if state:
            await self.issuer.write(unit)

    async def _once(self, make: Callable[[], Awaitable[str]], *key: object) -> str:
        if key not in self._made:
            self._made[key] = await make()
        return self._made[key]

    async def session(self, *acls: str) -> str:
        user_id = await self.person(acls)
        return await self._once(lambda: self.issuer.session(user_id), "session", user_id)

    async def key(self, acls: Iterable[str], owner: Iterable[str], state: str = "", **members: bool) -> str:
        user_id, held = await self.person(owner, state), tuple(acls)
        made = await self._once(
            lambda: self.issuer.admin_key(user_id, acls=held, **members), "key", user_id, held, *members
        )
        return f"Admin {made}"

    async def bearer(self, *acls: str, of_admin_application: bool, state: str = "") -> str:
        user_id = await self.person(acls, state)
        scopes, application = ((ADMIN_SCOPE,), ADMIN_APPLICATION_ID) if of_admin_application else (("identify",), None)
        made = await self._once(
            lambda: self.issuer.access_token(user_id, scopes=scopes, application_id=application),
            "bearer",
            user_id,
            application,
        )
        return f"Bearer {made}"


@attrs.frozen
class Kind:
    """A kind of credential, and what becomes of it where the operation asks for an ACL, and where for none."""

    name: str
    make: Callable[[Wallet], Awaitable[str | None]]
    expected: str
    without_acls: str = attrs.field(default=attrs.Factory(lambda self: self.expected, takes_self=True))


async def nothing(_: Wallet) -> None:
    return None


NEWER: Final = "SELECT id, action FROM admin_audit_log WHERE id > ? ORDER BY id"
EVERY: Final = ("*",)
KINDS: Final = [
    Kind("nothing", nothing, UNAUTHORIZED),
    Kind("a bot", lambda w: w._once(w.issuer.bot_token, "bot"), UNAUTHORIZED),
    Kind("a session without ACLs", lambda w: w.session(), POWERLESS),
    Kind("a session that may only come in", lambda w: w.session(AUTHENTICATE), MISSING, LET_IN),
    Kind("a session with the ACL alone", lambda w: w.session(*w.own), POWERLESS),
    Kind("a session with every other ACL", lambda w: w.session(*w.others), MISSING, LET_IN),
    Kind("a session with the ACL", lambda w: w.session(AUTHENTICATE, *w.own), LET_IN),
    Kind("a session with the wildcard", lambda w: w.session("*"), LET_IN),
    Kind("a foreign access token", lambda w: w.bearer("*", of_admin_application=False), DENIED),
    Kind("the Admin application", lambda w: w.bearer(AUTHENTICATE, *w.own, of_admin_application=True), LET_IN),
    Kind(
        "the Admin application without the ACL",
        lambda w: w.bearer(AUTHENTICATE, of_admin_application=True),
        MISSING,
        LET_IN,
    ),
    Kind("the Admin application for nobody", lambda w: w.bearer(of_admin_application=True), POWERLESS),
    Kind(
        "the Admin application for somebody banned",
        lambda w: w.bearer("*", of_admin_application=True, state="banned"),
        UNAUTHORIZED,
    ),
    Kind("a key of the same reach", lambda w: w.key((AUTHENTICATE, *w.own), (AUTHENTICATE, *w.own)), LET_IN),
    Kind("a key of the wildcard", lambda w: w.key(EVERY, EVERY), LET_IN),
    Kind("a wide key of somebody with the ACL", lambda w: w.key(EVERY, (AUTHENTICATE, *w.own)), LET_IN),
    Kind("a wide key of somebody without", lambda w: w.key(EVERY, (AUTHENTICATE,)), MISSING, LET_IN),
    Kind("a wide key of somebody with every other ACL", lambda w: w.key(EVERY, w.others), MISSING, LET_IN),
    Kind("a wide key of no administrator", lambda w: w.key(EVERY, w.own), POWERLESS),
    Kind("a narrow key of somebody with the wildcard", lambda w: w.key((AUTHENTICATE, *w.own), EVERY), LET_IN),
    Kind("a key without the ACL", lambda w: w.key((AUTHENTICATE,), EVERY), MISSING, LET_IN),
    Kind("a key with every other ACL", lambda w: w.key(w.others, EVERY), MISSING, LET_IN),
    Kind("a key with the ACL that may not come in", lambda w: w.key(w.own, EVERY), MISSING),
    Kind("an expired key", lambda w: w.key(EVERY, EVERY, expired=True), UNAUTHORIZED),
    Kind("a deleted key", lambda w: w.key(EVERY, EVERY, deleted=True), UNAUTHORIZED),
    Kind("a key of somebody banned", lambda w: w.key(EVERY, EVERY, "banned"), UNAUTHORIZED),
    Kind("a key of somebody whose ban is over", lambda w: w.key(EVERY, EVERY, "banned once"), LET_IN),
    Kind("a key of somebody who closed the account", lambda w: w.key(EVERY, EVERY, "disabled"), LET_IN),
    Kind("a key of somebody about to be deleted", lambda w: w.key(EVERY, EVERY, "about to be deleted"), UNAUTHORIZED),
    Kind("a key of somebody deleted", lambda w: w.key(EVERY, EVERY, "deleted"), UNAUTHORIZED),
]


def expected(operation: AdminOperation, kind: Kind) -> str:
    """What becomes of it; where the operation names no ACL, "the ACL alone" is nothing and the rest comes in."""
    return kind.expected if operation.acls else kind.without_acls


def agrees(answer: Response, outcome: str) -> bool:
    if outcome == LET_IN:
        return answer.status < 500 and answer.code not in ACCESS_CODES
    return f"{answer.status} {answer.code}" == outcome


@pytest.mark.long
@pytest.mark.rule("002.auth.1", "002.auth.2", "002.conventions.3")
async def test_every_operation_with_every_kind_of_credential(chat_world: World, chat_server: ChatServer) -> None:
    client, wallet = RawClient(chat_world.route), Wallet(chat_world, chat_server)
    newest, wrong = 0, []
    for operation in operations():
        wallet.own = tuple(sorted(map(str, alternatives))[0] for alternatives in operation.acls)
        wallet.all_of_operation = frozenset(str(acl) for alternatives in operation.acls for acl in alternatives)
        for kind in KINDS:
            credential = await kind.make(wallet)
            headers = [] if credential is None else [("Authorization", credential.encode())]
            answer = await ask(client, operation, headers)
            outcome = expected(operation, kind)
            entries = chat_server.database.reader.execute(NEWER, (newest,)).fetchall()
            newest = entries[-1][0] if entries else newest
            actions = [action for _, action in entries]
            name = f"{operation.method} {operation.path} with {kind.name}"
            if not agrees(answer, outcome):
                wrong.append(f"{name}: {outcome}, not {answer.status} {answer.body[:200]!r}")
            if answer.status >= 400 or operation.audit is None:
                if actions:
                    wrong.append(f"{name}: {answer.status} and {actions} in the audit log")
            elif not actions or not actions[0].startswith(str(operation.audit)):
                wrong.append(f"{name}: {operation.audit} is not in the audit log, but {actions}")
    await client.aclose()
    assert not wrong, "\n".join(wrong)
