"""Addresses and passwords as people's keyboards, telephones and clipboards send them, at every place that takes one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

import attrs
import pytest

from chat.admin.routes import ADMIN_ROUTES
from chat.api.fields import Exact, Trimmed
from chat.api.routes.every import ROUTES
from chat.auth.passwords import prepared
from chat.domain.policy import account_rules
from chat.errors import InvalidFormBody
from chat.store.accounts import accounts
from chat.testing.server import ChatServer
from chat.testing.world import World

AROUND: Final = {
    "a space behind": "{} ",
    "a space before": " {}",
    "a line feed": "{}\r\n",
    "a no-break space": "\u00a0{}\u00a0",
    "a zero-width space": "{}\u200b",
    "a byte order mark": "\ufeff{}",
    "marks of direction, of a contacts app": "\u202a{}\u202c",
    "a wide space, of a Japanese keyboard": "{}\u3000",
}
NFC: Final = "Z\u00fcrich-B\u00e4r-7"
NFD: Final = unicodedata.normalize("NFD", NFC)


@pytest.mark.parametrize("kind", AROUND)
async def test_what_surrounds_an_address_is_not_part_of_it(chat_world: World, kind: str) -> None:
    written = AROUND[kind].format("zoe@nas.local")
    body = {"email": written, "password": "a long password", "username": "zoe", "date_of_birth": "1990-01-01"}
    made = (await chat_world.anyone.post("/v1/auth/register", body | {"consent": True})).expect(200)
    own = (await chat_world.anyone.signed_in(made["token"]).get("/v1/users/@me")).expect(200)
    assert own["email"] == "zoe@nas.local"
    (await chat_world.anyone.post("/v1/auth/login", {"email": written, "password": "a long password"})).expect(200)
    (await chat_world.anyone.post("/v1/auth/forgot", {"email": written})).expect(204)
    mails = (await chat_world.anyone.get("/v1/_dev/mail")).expect(200)
    assert {mail["to"] for mail in _mails(mails) if mail["kind"] == "password_reset"} == {"zoe@nas.local"}


def _mails(answer: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer if isinstance(answer, list) else answer["mails"]
    return found


@pytest.mark.chat_settings(sign_in="username")
async def test_nor_is_it_of_a_username_at_sign_in(chat_world: World) -> None:
    for written in AROUND.values():
        body = {"username": written.format("alice"), "password": chat_world.alice.password}
        (await chat_world.anyone.post("/v1/auth/login", body)).expect(200)


async def test_an_address_has_one_form_at_sign_in(chat_world: World) -> None:
    body = {"email": "a@xn--mnchen-3ya.example", "password": "a long password", "username": "muc"}
    (await chat_world.anyone.post("/v1/auth/register", body | {"consent": True})).expect(200)
    for written in ("a@xn--mnchen-3ya.example", "a@m\u00fcnchen.example", "A@MU\u0308NCHEN.example"):
        (await chat_world.anyone.post("/v1/auth/login", {"email": written, "password": body["password"]})).expect(200)


@pytest.mark.parametrize(("kept", "typed"), [(NFC, NFD), (NFD, NFC)], ids=["set composed", "set decomposed"])
async def test_a_password_has_one_form_everywhere(chat_world: World, kept: str, typed: str) -> None:
    alice = chat_world.alice
    change = {"password": alice.password, "new_password": kept}
    changed = (await alice.rest.patch("/v1/users/@me", change)).expect(200)
    rest = alice.rest.signed_in(changed["token"]) if "token" in changed else alice.rest
    for password in (kept, typed):
        body = {"email": alice.email, "password": password}
        rest = chat_world.anyone.signed_in((await chat_world.anyone.post("/v1/auth/login", body)).expect(200)["token"])
    made = (await rest.post("/v1/oauth2/applications", {"name": "sudo"})).expect(200)
    path = f"/v1/oauth2/applications/{made['id']}/client-secret/reset"
    (await rest.post(path, {"password": typed})).expect(200)  # sudo mode
    (await rest.patch("/v1/users/@me", {"password": typed, "new_password": "another password"})).expect(200)


async def test_a_hash_of_what_was_typed_is_made_anew_at_the_next_sign_in(
    chat_world: World, chat_server: ChatServer
) -> None:
    alice = chat_world.alice
    passwords = chat_server.server.core.passwords
    before = passwords._hasher.hash(NFD)

    def age(connection: Any) -> None:
        account = accounts.by_id(connection, int(alice.id))
        assert account is not None
        accounts.replace(connection, attrs.evolve(account, password_hash=before))

    await chat_server.database.write(age)
    composed = {"email": alice.email, "password": NFC}
    assert (await chat_world.anyone.post("/v1/auth/login", composed)).status == 400
    (await chat_world.anyone.post("/v1/auth/login", {"email": alice.email, "password": NFD})).expect(200)
    (await chat_world.anyone.post("/v1/auth/login", composed)).expect(200)


HOMES: Final = {
    "zoe@chat.home.arpa": True,
    "zoe@home.arpa": True,
    "zoe@nas.local": True,
    "zoe@nas.lan": True,
    "zoe@mail.internal": True,
    "zoe@nas": True,
    "root@localhost": True,
    "zoe@abc.onion": True,
    "zoe@site.test": True,
    "zoe@site.example": True,
    "zoe@site.invalid": False,
    "zoe@4.3.2.1.in-addr.arpa": False,
    "zoe@nothome.arpa": False,
    "zoe@[127.0.0.1]": False,
    "zoe": False,
    "zoe@": False,
    "@nas.local": False,
    "zoe@nas..local": False,
    "zoe bear@nas.local": False,
    "zoe\u200b@nas.local": False,
}


@pytest.mark.parametrize("address", HOMES)
def test_home_networks_have_mail_and_nonsense_has_none(address: str) -> None:
    if HOMES[address]:
        assert account_rules.email(address) == address
    else:
        with pytest.raises(InvalidFormBody):
            account_rules.email(address)


# Every place


def members(kind: type[Any]) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Each member of a body or query, with what its annotation says."""
    for name, declared in get_type_hints(kind, include_extras=True).items():
        yield name, tuple(said(declared))


def said(declared: object) -> Iterator[object]:
    if get_origin(declared) is Annotated:
        yield from get_args(declared)[1:]
    elif get_origin(declared) is Union or get_args(declared):
        for part in get_args(declared):
            yield from said(part)


BODIES: Final = {
    (operation.method, operation.path): kind
    for module in (*ROUTES, *ADMIN_ROUTES)
    for operation in module.operations
    for kind in (operation.body, operation.query)
    if isinstance(kind, type) and attrs.has(kind)
}
ADDRESSES: Final = {"email", "new_email"}
PASSWORDS: Final = {"password", "new_password", "current_password"}


def test_every_member_that_takes_an_address_trims_it_and_every_password_comes_as_it_is() -> None:
    seen = set()
    for place, kind in BODIES.items():
        for name, rules in members(kind):
            if name in ADDRESSES | PASSWORDS:
                seen.add(name)
                form = Trimmed if name in ADDRESSES else Exact
                assert any(isinstance(rule, form) for rule in rules), (place, name)
    assert {"email", "new_email", "password", "new_password"} <= seen


def test_what_is_prepared_stays_in_bounds() -> None:
    assert prepared(NFD) == NFC
    with pytest.raises(InvalidFormBody):
        account_rules.password(
            unicodedata.normalize("NFD", "\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc")
        )  # seven letters
