"""How clients of OAuth2 speak: forms and queries without doubled parameters, and credentials in one of two places.

RFC 6749 3.1, 3.2 and 2.3.1: parameters without a value count as omitted, none may be there twice, and a client shows
its secret either by HTTP Basic or in the form, not in both.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote_plus

from chat.api.bodies import FORM_TYPE, read_body
from chat.api.operation import Request
from chat.domain.applications.oauth2_protocol import ClientCredentials, invalid_request, unauthenticated_client
from chat.errors import ApiError

FORM_BYTES: Final = 16_384
"""The largest form; codes, tokens and addresses of any sensible length fit in several times."""

PARAMETERS: Final = 100
"""Parameters that are looked at at all."""

Parameters = Mapping[str, str]


async def read_form(request: Request) -> Parameters:
    """The parameters of a form.

    :raises OAuth2Error: invalid_request for another content type, too large a body, broken text, a doubled parameter.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != FORM_TYPE:
        raise invalid_request("The content type is not application/x-www-form-urlencoded.")
    try:
        body = await read_body(request.receive, request.headers.get("content-length"), FORM_BYTES)
    except ApiError as too_large:
        refused = invalid_request("The form is too large.")
        refused.headers.update(too_large.headers)
        raise refused from None
    return parameters_of(body)


def parameters_of(encoded: bytes) -> Parameters:
    """The parameters of a form or query string, by name.

    :raises OAuth2Error: invalid_request.
    """
    try:
        pairs = parse_qsl(
            encoded.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=PARAMETERS,
            encoding="utf-8",
            errors="strict",
        )
    except ValueError:
        raise invalid_request("The parameters are not in percent-encoded UTF-8, or are too many.") from None
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        raise invalid_request("A parameter is there more than once.")
    return {name: value for name, value in parameters.items() if value}


def required(parameters: Parameters, name: str) -> str:
    """A parameter that has to be there.

    :raises OAuth2Error: invalid_request.
    """
    if name not in parameters:
        raise invalid_request(f"{name} is missing.")
    return parameters[name]


def client_credentials(request: Request, form: Parameters) -> ClientCredentials:
    """Who the client says it is.

    :raises OAuth2Error: invalid_request for credentials in both places or for two clients; invalid_client where the
        header is not HTTP Basic.
    """
    if not request.authorizations:
        return ClientCredentials(form.get("client_id"), form.get("client_secret"))
    shown = _basic(request.authorizations[0]) if len(request.authorizations) == 1 else None
    if shown is None:
        raise unauthenticated_client()
    if "client_secret" in form or form.get("client_id", shown.client_id) != shown.client_id:
        raise invalid_request("The client shows its credentials in two places.")
    return shown


def _basic(value: str) -> ClientCredentials | None:
    """The credentials in a value of Authorization; each is form-encoded before it is base64 (RFC 6749 2.3.1)."""
    scheme, _, encoded = value.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode("utf-8")
    except ValueError:
        return None
    client_id, colon, secret = decoded.partition(":")
    return ClientCredentials(unquote_plus(client_id), unquote_plus(secret)) if colon else None
