"""The Authorization parser as a fuzz target: headers of one request, one to a line of the input."""

from __future__ import annotations

from chat.auth.credentials import AMBIGUOUS, parse_authorization
from chat.auth.principal import CredentialKind
from chat.auth.tokens import application_of, has_bot_token_form, is_session_token


def authorization_parser(data: bytes) -> None:
    """Any headers are no credential, an ambiguous one, or one whose token stands in the header as it is."""
    values = data.decode("latin-1").split("\n")
    for any_case in (False, True):
        credential = parse_authorization(values, bot_in_any_case=any_case)
        assert credential is not None
        if len(values) > 1:
            assert credential is AMBIGUOUS
            continue
        token = credential.token
        if token is None:
            continue
        assert token == token.strip() != ""
        assert values[0].endswith(token)
        if credential.kind is CredentialKind.OAUTH2:
            assert not is_session_token(token)
        if application_of(token) is not None:
            assert has_bot_token_form(token)
            assert not is_session_token(token)
    assert parse_authorization([]) is None
