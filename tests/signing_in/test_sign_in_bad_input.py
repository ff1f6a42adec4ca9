"""Whatever somebody sends to sign in with, the answer is a documented refusal and nothing is half done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.testing.rest_client import Response
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.stepped_run import SteppedRun
from chat.testing.world import World

FEW = settings(max_examples=60, deadline=None)

MEMBERS = {
    "/v1/auth/login": ("email", "password", "invite_code"),
    "/v1/auth/login/mfa/totp": ("ticket", "code"),
    "/v1/auth/login/mfa/webauthn/authentication-options": ("ticket",),
    "/v1/auth/login/mfa/webauthn": ("ticket", "response", "challenge"),
    "/v1/auth/webauthn/authenticate": ("response", "challenge"),
    "/v1/auth/passkey-bridge/start": ("code_challenge",),
    "/v1/auth/passkey-bridge/authentication-options": ("bridge_id",),
    "/v1/auth/passkey-bridge/complete": ("bridge_id", "response", "challenge"),
    "/v1/auth/passkey-bridge/redeem": ("bridge_id", "code_verifier"),
    "/v1/auth/authorize-ip": ("token",),
    "/v1/auth/ip-authorization/resend": ("ticket",),
}

TEXTS = st.one_of(st.text(max_size=60), st.sampled_from(["x" * 257, "A" * 43, "A" * 64, "123456", "\u0000", "é" * 300]))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=10), inner, max_size=3)),
    max_leaves=6,
)
ASSERTIONS = st.fixed_dictionaries(
    {"id": TEXTS, "rawId": VALUES, "type": VALUES},
    optional={
        "response": st.dictionaries(
            st.sampled_from(["clientDataJSON", "authenticatorData", "signature", "userHandle"]), VALUES
        )
    },
)


class Stranger:
    """Posts from ordinary functions to one server, which lives as long as the module's tests."""

    def __init__(self, run: SteppedRun, server: ChatServer, world: World) -> None:
        self.run = run
        self.server = server
        self.world = world

    def posts(self, path: str, body: object) -> Response:
        return self.run.call(self.world.anyone.post, path, body)

    def rows(self, table: str) -> int:
        query = f"SELECT count(*) FROM {table}"  # noqa: S608 - the names are this module's own
        count: int = self.server.database.reader.execute(query).fetchone()[0]
        return count


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    folder = tmp_path_factory.mktemp("data")
    strangers: list[Stranger] = []

    async def live(task_status: trio.TaskStatus[None]) -> None:
        addresses = {"ip_ban.exempt": ["0.0.0.0/0"], "ip_authorization": True}
        async with open_chat_server(folder, settings=addresses) as server:
            world = World(server.description(), server.route(), run.nursery)
            strangers.append(Stranger(run, server, world))
            task_status.started()
            await trio.sleep_forever()

    with SteppedRun(virtual=True) as run:
        run.call(run.nursery.start, live)
        yield strangers[0]


def is_a_documented_refusal(answer: Response) -> None:
    assert (answer.status, answer.code) in {(400, "INVALID_FORM_BODY"), (401, "PASSKEY_AUTHENTICATION_FAILED")}, answer


@pytest.mark.parametrize("path", MEMBERS)
@FEW
@given(data=st.data())
def test_nothing_that_is_sent_signs_in(stranger: Stranger, path: str, data: st.DataObject) -> None:
    before = stranger.rows("auth_sessions"), stranger.rows("tickets"), stranger.rows("mails")
    values = {name: ASSERTIONS | VALUES if name == "response" else TEXTS | VALUES for name in MEMBERS[path]}
    body = data.draw(st.one_of(st.fixed_dictionaries(values), st.fixed_dictionaries({}, optional=values), VALUES))
    answer = stranger.posts(path, body)
    if path.endswith("/start") and answer.status == 200:
        return
    is_a_documented_refusal(answer)
    assert (stranger.rows("auth_sessions"), stranger.rows("tickets"), stranger.rows("mails")) == before


@FEW
@given(ticket=st.binary(max_size=300))
def test_nothing_that_is_polled_for_is_there(stranger: Stranger, ticket: bytes) -> None:
    query = "".join(f"%{byte:02x}" for byte in ticket)
    answer = stranger.run.call(stranger.world.anyone.request, "GET", f"/v1/auth/ip-authorization/poll?ticket={query}")
    is_a_documented_refusal(answer)


@FEW
@given(members=st.dictionaries(st.sampled_from(["email", "username", "password", "global_name"]), VALUES))
def test_what_is_no_applicant_is_no_account(stranger: Stranger, members: dict[str, Any]) -> None:
    before = stranger.rows("users")
    answer = stranger.posts("/v1/auth/register", {**members, "consent": True})
    assert answer.status == 200 or answer.code == "INVALID_FORM_BODY"
    assert stranger.rows("users") == before + (answer.status == 200)
