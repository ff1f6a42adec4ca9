"""Request bodies of the operations that exist, valid and invalid (guilds.md, Guild object).

In a body an empty string counts as null, and so does an object that holds nothing but nulls (http.md, Empty values).
"""

from __future__ import annotations

import datetime
from typing import Any

from hypothesis import strategies as st

from chat.testing.strategies.values import all_but, counts_as_null, invalid_snowflakes, names, snowflakes, words

Body = dict[str, Any]

USERNAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{1,30}[A-Za-z0-9]", fullmatch=True)
BIRTHDAYS = st.dates(datetime.date(1920, 1, 1), datetime.date(2000, 12, 31))
PASSWORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=16, max_size=64)


def registrations() -> st.SearchStrategy[Body]:
    """POST /v1/auth/register on an e-mail instance."""
    return st.fixed_dictionaries(
        {
            "email": USERNAMES.map(lambda name: f"{name.lower()}@example.com"),
            "username": USERNAMES,
            "password": PASSWORDS,
            "date_of_birth": BIRTHDAYS.map(lambda day: day.isoformat()),
            "consent": st.just(True),
        },
        optional={"global_name": names()},
    )


def invalid_registrations() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        all_but(dict),
        _broken(registrations(), "email", st.sampled_from(["@", "no address", "a@b@c"]) | _no(str, type(None))),
        _broken(
            registrations(), "username", st.sampled_from(["with space", "ümlaut", "x" * 33]) | _no(str, type(None))
        ),
        _broken(registrations(), "password", st.sampled_from(["short", "x" * 257]) | _no(str, type(None))),
        _broken(registrations(), "date_of_birth", st.sampled_from(["1990", "1990-13-01", "tomorrow"])),
    )


def login_bodies(email: str, password: str) -> st.SearchStrategy[Body]:
    """POST /v1/auth/login that succeeds, in any letter case of the address."""
    return st.sampled_from([email, email.upper(), email.title()]).map(
        lambda written: {"email": written, "password": password}
    )


def invalid_login_bodies() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY before anybody looks at accounts."""
    whole = st.just({"email": "a@example.com", "password": "a good password"})
    return st.one_of(
        all_but(dict),
        _broken(whole, "email", _no(str)),
        _broken(whole, "password", _no(str)),
        st.sampled_from([{}, {"email": "a@example.com"}, {"password": "a good password"}]),
    )


def guild_bodies() -> st.SearchStrategy[Body]:
    """POST /v1/guilds."""
    return st.fixed_dictionaries({"name": names(1, 100)}, optional={"icon": st.none()})


def invalid_guild_bodies() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        all_but(dict), st.just({}), _broken(guild_bodies(), "name", _no(str) | st.sampled_from(["", "x" * 101]))
    )


def invite_bodies() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/invites."""
    return st.fixed_dictionaries(
        {},
        optional={
            "max_age": st.integers(0, 604_800),
            "max_uses": st.integers(0, 100),
            "unique": st.booleans(),
            "temporary": st.booleans(),
        },
    )


def invalid_invite_bodies() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        _broken(invite_bodies(), "max_age", st.sampled_from([-1, 604_801, "many", [], {"a": 1}])),
        _broken(invite_bodies(), "max_uses", st.sampled_from([-1, 101, "many", [], {"a": 1}])),
    )


def accept_invite_paths(codes: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """POST /v1/invites/{code}."""
    return codes.map(lambda code: f"/v1/invites/{code}")


def message_bodies() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/messages with text, mentioning nobody."""
    content = words(1, 400)
    return st.fixed_dictionaries(
        {"content": content, "allowed_mentions": st.just({"parse": []})},
        optional={"nonce": st.text("abc123", min_size=1, max_size=32), "tts": st.booleans(), "flags": st.just(0)},
    )


def invalid_message_bodies() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    reference = st.fixed_dictionaries({"message_id": invalid_snowflakes()})
    return st.one_of(
        all_but(dict),
        _broken(message_bodies(), "content", _no(str, type(None)) | st.just("x" * 4_001)),
        _broken(message_bodies(), "message_reference", _no(dict, type(None)) | reference),
        _broken(message_bodies(), "allowed_mentions", _no(dict, type(None))),
    )


def relationship_bodies() -> st.SearchStrategy[Body]:
    """POST /v1/_dev/relationships."""
    return st.fixed_dictionaries({"user_id": snowflakes(), "target_user_id": snowflakes(), "type": st.integers(1, 4)})


def _no(*kinds: type) -> st.SearchStrategy[Any]:
    """JSON values of no such type, which do not count as null either."""
    return all_but(*kinds).filter(lambda value: not counts_as_null(value))


def _broken(bodies: st.SearchStrategy[Body], member: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Body]:
    return st.builds(lambda body, value: {**body, member: value}, bodies, values)
