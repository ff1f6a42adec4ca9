"""The Authorization header, to the letter."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.auth.credentials import AMBIGUOUS, Credential, parse_authorization
from chat.auth.principal import CredentialKind
from chat.auth.tokens import is_session_token

SESSION = "cht_" + "a1B2" * 9
BOT = "1420070400000." + "A" * 43

HEADERS = [
    (f"Bot {BOT}", CredentialKind.BOT, BOT),
    ("Bearer abc", CredentialKind.OAUTH2, "abc"),
    (SESSION, CredentialKind.SESSION, SESSION),
    ("Admin cha_1_x", CredentialKind.ADMIN_KEY, "cha_1_x"),
    ("anything", CredentialKind.SESSION, "anything"),
    (f"Bearer {SESSION}", CredentialKind.SESSION, SESSION),
    (f"Bearer {SESSION}a", CredentialKind.OAUTH2, SESSION + "a"),
    (f"Bearer {SESSION[:-1]}", CredentialKind.OAUTH2, SESSION[:-1]),
    (f"Bearer {SESSION[:-1]}-", CredentialKind.OAUTH2, SESSION[:-1] + "-"),
    ("Bearer CHT_" + "a" * 36, CredentialKind.OAUTH2, "CHT_" + "a" * 36),
    ("Bot", CredentialKind.BOT, None),
    ("Bot ", CredentialKind.BOT, None),
    ("Bearer", CredentialKind.OAUTH2, None),
    ("Bearer ", CredentialKind.OAUTH2, None),
    ("Admin", CredentialKind.ADMIN_KEY, None),
    ("Admin ", CredentialKind.ADMIN_KEY, None),
    (f"Bot  {BOT}", CredentialKind.BOT, None),
    (f"Bot {BOT} ", CredentialKind.BOT, None),
    (f"Bot \t{BOT}", CredentialKind.BOT, None),
    (f"Bearer  {SESSION}", CredentialKind.OAUTH2, None),
    (f"Bearer {SESSION} ", CredentialKind.OAUTH2, None),
    (f" {SESSION}", CredentialKind.SESSION, None),
    (f"{SESSION} ", CredentialKind.SESSION, None),
    ("", CredentialKind.SESSION, None),
    (f"bot {BOT}", CredentialKind.SESSION, None),
    (f"BOT {BOT}", CredentialKind.SESSION, None),
    ("bearer abc", CredentialKind.SESSION, None),
    ("admin cha_1_x", CredentialKind.SESSION, None),
    ("Basic YTpi", CredentialKind.SESSION, None),
    (f"Bot\t{BOT}", CredentialKind.SESSION, f"Bot\t{BOT}"),
]


@pytest.mark.parametrize(("value", "kind", "token"), HEADERS)
def test_each_form_of_the_header(value: str, kind: CredentialKind, token: str | None) -> None:
    assert parse_authorization([value]) == Credential(kind, token)


def test_no_header_is_no_credential() -> None:
    assert parse_authorization([]) is None


@pytest.mark.parametrize("values", [[SESSION, SESSION], [f"Bot {BOT}", SESSION], ["", ""]])
def test_more_than_one_header_is_malformed_whatever_the_values(values: list[str]) -> None:
    assert parse_authorization(values) is AMBIGUOUS


@pytest.mark.parametrize("scheme", ["Bot", "bot", "BOT", "bOt"])
def test_two_operations_read_bot_in_any_letter_case(scheme: str) -> None:
    assert parse_authorization([f"{scheme} {BOT}"], bot_in_any_case=True) == Credential(CredentialKind.BOT, BOT)


@pytest.mark.parametrize("value", ["bearer abc", "ADMIN abc", "bott abc"])
def test_and_no_other_scheme(value: str) -> None:
    assert parse_authorization([value], bot_in_any_case=True) == Credential(CredentialKind.SESSION, None)


words = st.sampled_from(["Bot", "bot", "Bearer", "bearer", "Admin", "", "cht_", SESSION, BOT])
blanks = st.text(alphabet=" \t\u00a0", max_size=2)
values = st.one_of(
    st.text(alphabet=st.characters(max_codepoint=255)),
    st.builds(lambda *parts: "".join(parts), words, blanks, words, blanks, st.text(string.printable, max_size=8)),
)


@given(st.lists(values, max_size=3), st.booleans())
@example(["Bearer cht_" + "é" * 36], False)
@example([SESSION + "\n"], False)
def test_any_header_has_one_of_the_documented_outcomes(headers: list[str], any_case: bool) -> None:
    credential = parse_authorization(headers, bot_in_any_case=any_case)
    if not headers:
        assert credential is None
        return
    assert credential is not None
    if len(headers) > 1:
        assert credential is AMBIGUOUS
        return
    token = credential.token
    if token is not None:
        assert token
        assert token == token.strip()
        assert headers[0] in {token, f"Bot {token}", f"Bearer {token}", f"Admin {token}"} or any_case
    if credential.kind is CredentialKind.OAUTH2 and token is not None:
        assert not is_session_token(token)


def test_a_credential_does_not_show_its_token() -> None:
    assert SESSION not in repr(parse_authorization([SESSION]))
