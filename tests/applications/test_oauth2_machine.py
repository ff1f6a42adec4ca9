"""Codes, grants and tokens against a model, over whatever sequence of requests Hypothesis thinks of.

The model is four sentences. One application is public and shows no secret beside a verifier. A code is good
for its application for ten minutes, until it is exchanged or the account takes its authorisation back. A grant lives
until its code or one of its refresh tokens is presented a second time, a refresh token of it is revoked, the account
takes its authorisation back or the application is deleted. A token is good while its grant lives, its time is not over,
and it was neither revoked nor (a refresh token) exchanged.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pytest
import trio
import trio.testing
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from chat.auth.credentials import resolve_authorization
from chat.auth.principal import CredentialKind
from chat.domain.applications.oauth2_protocol import ClientCredentials
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.stepped_run import SteppedRun
from chat.testing.world import Person, World
from tests.applications.oauth2_client import (
    CHALLENGE,
    SEVEN_DAYS_MS,
    TEN_MINUTES_MS,
    THIRTY_DAYS_MS,
    VERIFIER,
    OAuth2Client,
    refusal,
)

T = TypeVar("T")

STEPS_BEFORE_DELETION = 25
"""Whatever comes after the deletion of both applications is dull."""

LIFETIMES = {"access": SEVEN_DAYS_MS, "refresh": THIRTY_DAYS_MS}

SCOPES = st.sampled_from(["identify", "email identify", "guilds", "connections email"])


@attrs.define(eq=False)
class Application:
    client: OAuth2Client
    is_public: bool
    exists: bool = True


@attrs.define(eq=False)
class Grant:
    application: Application
    account: Person
    scopes: frozenset[str]
    public: bool
    ended: bool = False

    @property
    def lives(self) -> bool:
        return self.application.exists and not self.ended


@attrs.define(eq=False)
class Code:
    value: str
    application: Application
    account: Person
    scopes: frozenset[str]
    challenged: bool
    issued_at: int
    ended: bool = False
    grant: Grant | None = None


@attrs.define(eq=False)
class Token:
    value: str
    kind: str
    grant: Grant
    issued_at: int
    revoked: bool = False
    exchanged: bool = False

    def is_good(self, now: int) -> bool:
        in_time = now < self.issued_at + LIFETIMES[self.kind]
        return self.grant.lives and in_time and not self.revoked and not self.exchanged


class OAuth2Machine(RuleBasedStateMachine):
    """Two applications, two accounts, and everything they can do to each other."""

    seeds = itertools.count()

    codes = Bundle("codes")
    tokens = Bundle("tokens")
    applications = Bundle("applications")

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.grants: list[Grant] = []
        self.known: list[Token] = []
        self.pending: list[Code] = []
        self._folder = tempfile.TemporaryDirectory(prefix="chat-oauth2-")
        self._run = SteppedRun(virtual=True)
        self._server: ChatServer
        self._world: World
        self._call(self._open)

    def _call(self, ask: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        return self._run.call(ask, *arguments)

    async def _open(self) -> None:
        await self._run.nursery.start(self._live)

    async def _live(self, task_status: trio.TaskStatus[None]) -> None:
        # With one seed, what is a code in one example would be a token in another, and look like a leak.
        async with open_chat_server(Path(self._folder.name), seed=next(self.seeds)) as server:
            self._server = server
            self._world = World(server.description(), server.route(), self._run.nursery)
            task_status.started()
            await trio.sleep_forever()

    def teardown(self) -> None:
        try:
            self._call(self._world.aclose)
            self._run.close()
        finally:
            self._folder.cleanup()

    @property
    def now(self) -> int:
        return self._server.clock.now_ms()

    @initialize(target=applications)
    def two_applications(self) -> Any:
        return multiple(*(self._call(self._made, is_public) for is_public in (True, False)))

    async def _made(self, is_public: bool) -> Application:
        return Application(await OAuth2Client.make(self._world, public_client=is_public), is_public)

    # What accounts do

    @rule(
        target=codes,
        application=applications,
        name=st.sampled_from(["alice", "carol"]),
        scope=SCOPES,
        pkce=st.booleans(),
    )
    def consent(self, application: Application, name: str, scope: str, pkce: bool) -> Any:
        account: Person = getattr(self._world, name)

        async def ask() -> Response:
            return await application.client.ask(account, scope, **(CHALLENGE if pkce else {}))

        answer = self._call(ask)
        if not application.exists:
            assert refusal(answer) == "invalid_client"
            return multiple()
        value = answer.expect(200)["redirect_to"].partition("code=")[2].partition("&")[0]
        code = Code(value, application, account, frozenset(scope.split()), pkce, self.now)
        self.pending.append(code)
        return code

    @rule(application=applications, name=st.sampled_from(["alice", "carol"]))
    def take_authorisation_back(self, application: Application, name: str) -> None:
        account: Person = getattr(self._world, name)

        async def end() -> Response:
            return await account.rest.delete(f"/v1/oauth2/@me/authorizations/{application.client.id}")

        mine = [each for each in self.grants if each.application is application and each.account is account]
        has_any = any(token.is_good(self.now) for token in self.known if token.grant in mine)
        assert self._call(end).status == (204 if has_any else 404)
        for grant in mine:
            grant.ended = True
        for code in self.pending:
            if code.application is application and code.account is account:
                code.ended = True

    @precondition(lambda self: self.steps > STEPS_BEFORE_DELETION)
    @rule(application=consumes(applications))
    def delete_application(self, application: Application) -> None:
        async def delete() -> Response:
            path = f"/v1/oauth2/applications/{application.client.id}"
            return await self._world.bob.rest.delete(path, {"password": self._world.bob.password})

        assert self._call(delete).status == 204
        application.exists = False

    # What applications do

    @rule(target=tokens, code=codes)
    def exchange(self, code: Code) -> Any:
        return self._exchange(code, code.application, "right", "as it was", "right")

    @rule(target=tokens, code=codes)
    def exchange_without_secret(self, code: Code) -> Any:
        return self._exchange(code, code.application, "none", "as it was", "right")

    @rule(
        target=tokens,
        code=codes,
        application=applications,
        secret=st.sampled_from(["right", "wrong", "none"]),
        verifier=st.sampled_from(["as it was", "wrong", "toggled"]),
        redirect=st.sampled_from(["right", "wrong"]),
    )
    def exchange_somehow(self, code: Code, application: Application, secret: str, verifier: str, redirect: str) -> Any:
        return self._exchange(code, application, secret, verifier, redirect)

    def _exchange(self, code: Code, application: Application, secret: str, verifier: str, redirect: str) -> Any:
        sends_verifier = code.challenged != (verifier == "toggled") or verifier == "wrong"
        is_met = sends_verifier == code.challenged and verifier != "wrong"

        async def ask() -> Response:
            client, fields = application.client, {}
            if sends_verifier:
                fields["code_verifier"] = VERIFIER + ("x" if verifier == "wrong" else "")
            if redirect == "wrong":
                fields["redirect_uri"] = "https://app.example.com/"
            shown = {"right": "", "wrong": "guess", "none": None}[secret]
            if shown is None:
                fields["client_id"] = client.id
            return await client.exchange(code.value, secret=shown, **fields)

        answer, now = self._call(ask), self.now
        may_come_without = application.is_public and sends_verifier
        if not application.exists or secret == "wrong" or (secret == "none" and not may_come_without):
            assert refusal(answer, 401) == "invalid_client"
            return multiple()
        public = secret == "none"
        is_own = code.application is application
        if code.grant is None and is_own and not code.ended and now < code.issued_at + TEN_MINUTES_MS:
            if redirect == "right" and is_met and (code.challenged or not public):
                grant = code.grant = Grant(application, code.account, code.scopes, public)
                self.grants.append(grant)
                return self._granted(answer, grant)
        elif code.grant is not None and is_own and (code.grant.public or not public):
            code.grant.ended = True
        assert refusal(answer) == "invalid_grant"
        return multiple()

    @rule(target=tokens, token=tokens)
    def refresh(self, token: Token) -> Any:
        return self._refresh(token, token.grant.application, with_secret=not token.grant.public)

    @rule(target=tokens, token=tokens, application=applications, with_secret=st.booleans())
    def refresh_somehow(self, token: Token, application: Application, with_secret: bool) -> Any:
        return self._refresh(token, application, with_secret)

    def _refresh(self, token: Token, application: Application, with_secret: bool) -> Any:
        async def ask() -> Response:
            if with_secret:
                return await application.client.refresh(token.value)
            return await application.client.refresh(token.value, secret=None, client_id=application.client.id)

        answer, now = self._call(ask), self.now
        if not application.exists:
            assert refusal(answer, 401) == "invalid_client"
            return multiple()
        is_known = token.grant.lives and not token.revoked and now < token.issued_at + LIFETIMES[token.kind]
        if not is_known or token.grant.application is not application or not (with_secret or token.grant.public):
            error, status = ("invalid_grant", 400) if with_secret else ("invalid_client", 401)
            assert refusal(answer, status) == error
            return multiple()
        if token.kind == "refresh" and not token.exchanged:
            token.exchanged = True
            return self._granted(answer, token.grant)
        token.grant.ended = token.grant.ended or token.exchanged
        assert refusal(answer) == "invalid_grant"
        return multiple()

    @rule(token=consumes(tokens), application=applications)
    def revoke(self, token: Token, application: Application) -> None:
        answer = self._call(application.client.revoke, token.value)
        assert answer.expect(200) == {}
        if token.grant.application is application and token.grant.lives:
            token.revoked = True
            if token.kind == "refresh" and self.now < token.issued_at + THIRTY_DAYS_MS:
                token.grant.ended = True

    @rule(token=tokens, application=applications)
    def introspect_somehow(self, token: Token, application: Application) -> None:
        told = self._call(application.client.introspect, token.value).expect(200)
        assert told["active"] is (token.grant.application is application and token.is_good(self.now))

    @rule(milliseconds=st.sampled_from([TEN_MINUTES_MS, SEVEN_DAYS_MS, THIRTY_DAYS_MS - SEVEN_DAYS_MS]))
    def time_passes(self, milliseconds: int) -> None:
        async def jump() -> None:
            clock = trio.lowlevel.current_clock()
            assert isinstance(clock, trio.testing.MockClock)
            clock.jump(milliseconds / 1000)  # at once: what the server does every few seconds it does once

        self._call(jump)

    def _granted(self, answer: Response, grant: Grant) -> Any:
        body = answer.expect(200)
        assert set(body["scope"].split()) == grant.scopes
        pair = [Token(body[f"{kind}_token"], kind, grant, self.now) for kind in LIFETIMES]
        self.known.extend(pair)
        return multiple(*pair)

    # What always holds

    @invariant()
    def a_token_is_what_it_should_be_to_its_application(self) -> None:
        introspect = self._server.server.areas.applications.oauth2_tokens.introspect
        for token in self.known:
            application = token.grant.application
            if application.exists:
                shown = ClientCredentials(application.client.id, application.client.secret)
                assert introspect(shown, token.value)["active"] is token.is_good(self.now)

    @invariant()
    def a_token_opens_as_much_as_it_should(self) -> None:
        self.steps += 1
        for token in self.known:
            caller = resolve_authorization(self._server.database.reader, [f"Bearer {token.value}"], self.now)
            assert (caller is not None) == (token.kind == "access" and token.is_good(self.now))
            if caller is not None:
                assert caller.kind is CredentialKind.OAUTH2
                assert str(caller.user_id) == token.grant.account.id
                assert caller.scopes == token.grant.scopes
                assert str(caller.application_id) == token.grant.application.client.id


TestOAuth2Machine = pytest.mark.long(OAuth2Machine.TestCase)
TestOAuth2Machine.settings = settings(max_examples=40, stateful_step_count=50, deadline=None)
