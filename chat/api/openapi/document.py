"""The OpenAPI 3.1 document of the API, made of the operations' declarations, so that none can be forgotten.

Beside what OpenAPI has words for, an operation tells of its request limit (`x-rate-limit`), of the codes behind each
status (`x-codes`), of the ACLs that it asks an administrator for (`x-acls`: of each list one), and what its declaration
adds (`Operation.extensions`)."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from chat import __version__
from chat.api.bodies import FORM_TYPE
from chat.api.fields import SNOWFLAKE, Schema, SudoFields
from chat.api.openapi.descriptions import describe, of_parameter
from chat.api.openapi.errors import OTHER, refusing, shared_responses
from chat.api.openapi.inputs import InputSchemas, text_schema, told
from chat.api.operation import Operation, Routes
from chat.api.request import AUDIT_LOG_REASON_LENGTH, SUDO_HEADER
from chat.api.schemas.shapes import JSON, Components, Shape
from chat.auth.policy import Policy
from chat.registries.scopes import ADMIN_SCOPE, Scope

VERSION: Final = "3.1.0"
MULTIPART: Final = "multipart/form-data"
FAMILIES: Final = Path(__file__).with_name("families.json")
STATUS_TEXTS: Final[Mapping[int, str]] = {
    200: "What was asked for.",
    201: "What was made.",
    202: "It will be done.",
    204: "Done.",
    206: "The bytes that were asked for.",
    302: "Where to go on.",
    304: "The caller has it already.",
    416: "There are no such bytes.",
    503: "Requests cannot be served.",
}

_DESCRIPTION: Final = """\
The HTTP API of a self-hosted community chat server.

Ids are 64-bit numbers as decimal text. Moments are ISO 8601 in UTC with milliseconds. Requests may have members that
nobody knows; they are ignored. Every refusal has the shape `Error`; `code` is for programs. A request goes into the
bucket that `x-rate-limit` tells of and into that of all requests of its caller; bots learn from the `X-RateLimit`
headers how theirs stands."""

_LIMIT_HEADERS: Final[Mapping[str, tuple[str, Schema]]] = {
    "X-RateLimit-Limit": ("Requests that the bucket holds.", {"type": "integer", "minimum": 1}),
    "X-RateLimit-Remaining": ("Requests that would pass now.", {"type": "integer", "minimum": 0}),
    "X-RateLimit-Reset": ("Unix seconds at which the bucket is empty.", {"type": "integer", "minimum": 0}),
    "X-RateLimit-Reset-After": ("Seconds until the bucket is empty.", {"type": "number", "minimum": 0}),
    "X-RateLimit-Bucket": ("Names the bucket.", {"type": "string", "pattern": "^[0-9a-f]{16}$"}),
}
"""Headers of answers to bots, for operations that have a bucket."""

_REFUSED_HEADERS: Final[Mapping[str, tuple[str, Schema]]] = {
    "Retry-After": ("Whole seconds to wait.", {"type": "integer", "minimum": 1}),
    "X-RateLimit-Scope": ("Whose limit it is.", {"enum": ["user", "global", "shared"]}),
    "X-RateLimit-Global": ("There where the limit is that of all requests.", {"enum": ["true"]}),
}
_HEADERS: Final = {**_LIMIT_HEADERS, **_REFUSED_HEADERS}

_REASON: Final = {
    "name": "X-Audit-Log-Reason",
    "in": "header",
    "description": "Why, for the audit log. Longer ones are discarded.",
    "schema": {"type": "string", "maxLength": AUDIT_LOG_REASON_LENGTH},
}
_SUDO: Final = {
    "name": SUDO_HEADER,
    "in": "header",
    "description": "The sudo token of an earlier answer, in place of the proof in the body.",
    "schema": {"type": "string"},
}
_CAPTCHA: Final = (
    {
        "name": "X-Captcha-Token",
        "in": "header",
        "description": "The proof of a solved challenge, where the instance sets one.",
        "schema": {"type": "string"},
    },
    {
        "name": "X-Captcha-Type",
        "in": "header",
        "description": "Who set the challenge.",
        "schema": {"enum": ["hcaptcha", "turnstile"]},
    },
)
_FEATURES: Final = {
    "name": "X-Service-Features",
    "in": "header",
    "description": "What the client knows, divided by commas. Without `channel_threads` there is nothing here for a "
    "session; bots need no header.",
    "schema": {"type": "string"},
    "example": "channel_threads",
}


def openapi_document(modules: Iterable[Routes], origin: str) -> dict[str, object]:
    """The document of these operations on an instance at this origin; without one its addresses are relative.

    :raises ValueError: when two operations have one name, or two shapes.
    :raises TypeError: when an operation does not say what it answers.
    """
    return _Document([operation for module in modules for operation in module.operations], origin).written()


class _Document:
    def __init__(self, operations: list[Operation], origin: str) -> None:
        self._operations = operations
        self._origin = origin
        self._components = Components()
        self._bodies: dict[str, Schema] = {}
        inputs = [kind for operation in operations for kind in (operation.body, operation.form) if kind is not None]
        self._inputs = InputSchemas(self._bodies, inputs)

    # `dict[str, Any]`: a document of OpenAPI, in which objects hold each other to any depth.
    def written(self) -> dict[str, Any]:
        paths: dict[str, dict[str, object]] = {}
        tags: set[str] = set()
        names: set[str] = set()
        for operation in self._operations:
            if operation.name in names:
                raise ValueError(f"two operations are called {operation.name}")
            names.add(operation.name)
            tag = _family(operation)
            tags.add(tag)
            paths.setdefault(operation.path, {})[operation.method.lower()] = self._operation(operation, tag)
        responses = shared_responses(self._components, {429: _references(_HEADERS)})
        return {
            "openapi": VERSION,
            "info": {
                "title": "chat",
                "version": __version__,
                "description": _DESCRIPTION,
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": self._origin or "/"}],
            "tags": [
                {"name": tag, "description": family["about"]} for tag, family in families().items() if tag in tags
            ],
            "paths": {path: paths[path] for path in sorted(paths)},
            "components": {
                "schemas": self._schemas(),
                "responses": responses,
                "headers": {name: {"description": told, "schema": schema} for name, (told, schema) in _HEADERS.items()},
                "securitySchemes": security_schemes(self._origin),
            },
        }

    def _schemas(self) -> dict[str, object]:
        both = self._components.keys() & self._bodies.keys()
        if both:
            raise ValueError(f"a body and an answer are called {', '.join(both)}")
        missing = list(self._components.missing())
        if missing:
            raise ValueError(f"there is no {', '.join(missing)}")
        schemas = {**self._components, **self._bodies}
        return {name: describe(schemas[name], (name,)) for name in sorted(schemas)}

    def _operation(self, operation: Operation, tag: str) -> dict[str, object]:
        summary, description = told(operation.handler.__doc__)
        written: dict[str, object] = {"operationId": operation.name, "tags": [tag], "summary": summary}
        if description:
            written["description"] = description
        parameters = [{"description": of_parameter(one["name"]), **one} for one in self._parameters(operation)]
        if parameters:
            written["parameters"] = parameters
        body = self._request_body(operation)
        if body is not None:
            written["requestBody"] = describe(body)
        written["responses"] = describe(self._responses(operation))
        written["security"] = security_of(operation)
        return {**written, **_extensions(operation)}

    def _parameters(self, operation: Operation) -> Iterator[Mapping[str, Any]]:
        for name in operation.path_members:
            schema = text_schema(SNOWFLAKE.schema) if name.endswith("_id") else {"type": "string", "minLength": 1}
            yield {"name": name, "in": "path", "required": True, "schema": schema}
        if operation.query is not None:
            for name, required, schema in self._inputs.members(operation.query, null_is_default=False):
                yield {"name": name, "in": "query", "required": required, "schema": text_schema(schema)}
        if operation.parameters is not None:
            for name, shape in {**operation.parameters.members, **operation.parameters.optional}.items():
                required = name in operation.parameters.members
                yield {"name": name, "in": "query", "required": required, "schema": self._components.written(shape)}
        if "audit_log_reason" in operation.handler.__code__.co_names:
            yield _REASON
        if operation.policy is Policy.THREADS:
            yield _FEATURES
        if isinstance(operation.body, type) and issubclass(operation.body, SudoFields):
            yield _SUDO
        if operation.asks_captcha:
            yield from _CAPTCHA

    def _request_body(self, operation: Operation) -> dict[str, object] | None:
        if operation.body is not None:
            schema = self._inputs.of(operation.body)
            content: dict[str, object] = {JSON: {"schema": schema}}
            if operation.payload_field is not None:
                fields = self._form(operation.body, operation.payload_field, schema)
                content[FORM_TYPE] = _as_form(fields, operation.payload_field, {})
                content[MULTIPART] = _as_form(fields, operation.payload_field, _FILES if operation.multipart else {})
            return {"required": self._inputs.requires_something(operation.body), "content": content}
        if operation.form is not None:
            members = {name: text_schema(schema) for name, _, schema in self._inputs.members(operation.form)}
            return {"content": {FORM_TYPE: {"schema": {"type": "object", "properties": members}}}}
        if operation.accepts:
            return {"required": True, "content": self._content(operation.accepts)}
        return None

    def _form(self, declared: type[Any], payload_field: str, whole: Schema) -> dict[str, Schema]:
        """The fields of a form that stands for a body: one for all of it, or one for each member."""
        payload = {**whole, "description": "All of the body as JSON."}
        return {payload_field: payload} | {name: schema for name, _, schema in self._inputs.members(declared)}

    def _content(self, shapes: Mapping[str, Shape]) -> dict[str, object]:
        return {media_type: {"schema": self._components.written(shape)} for media_type, shape in shapes.items()}

    def _responses(self, operation: Operation) -> dict[str, object]:
        responses: dict[int, dict[str, object]] = {}
        for status, shape in operation.answers.items():
            responses[status] = {"description": STATUS_TEXTS[status]}
            if shape.media_type is not None:
                responses[status]["content"] = self._content({shape.media_type: shape})
        responses.update(refusing(operation, self._components))
        for status, response in responses.items():
            if status < 400 and operation.bucket is not None:
                response["headers"] = _references(_LIMIT_HEADERS)
            elif status == 429 and "$ref" not in response:
                response["headers"] = _references(_HEADERS)
        written = {str(status): responses[status] for status in sorted(responses)}
        return {**written, "default": {"$ref": f"#/components/responses/{OTHER}"}}


def _references(headers: Iterable[str]) -> dict[str, object]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in headers}


_FILES: Final[Mapping[str, Any]] = {
    "additionalProperties": {"type": "string", "contentMediaType": "application/octet-stream"}
}


def _as_form(fields: Mapping[str, Schema], payload_field: str, files: Mapping[str, Any]) -> dict[str, object]:
    """A body as a form: all of it in one field, or each member in a field of its own; files in the others (messages.md,
    Sending messages)."""
    description = f"All of the body as JSON in `{payload_field}`, or each member in a field of its own."
    if files:
        description += " Files are `files[0]`, `files[1]` and so on, which the `id` of its `attachments` name."
    return {
        "schema": {"type": "object", "description": description, "properties": dict(fields), **files},
        "encoding": {payload_field: {"contentType": JSON}},
    }


def _extensions(operation: Operation) -> dict[str, object]:
    extensions = dict(operation.extensions)
    bucket = operation.bucket
    if bucket is not None:
        extensions["x-rate-limit"] = {
            "bucket": bucket.public_name,
            "name": bucket.name.partition("::")[0],
            "limit": bucket.limit,
            "window_ms": bucket.window_ms,
            "counted_by": list(bucket.path_members),
            "exempt_from_global": bucket.exempt_from_global,
        }
    if operation.acls:
        extensions["x-acls"] = [sorted(alternatives) for alternatives in operation.acls]
    return extensions


@functools.cache
def families() -> Mapping[str, Mapping[str, Any]]:
    """The tags in the order in which they are read: what each is `about`, the `modules` whose operations it has, and
    the `operations` of other modules that belong to it. Programs are made of the document: a tag outlives a module."""
    found: dict[str, dict[str, object]] = json.loads(FAMILIES.read_text(encoding="utf-8"))
    return found


@functools.cache
def _tags(of: str) -> Mapping[str, str]:
    return {name: tag for tag, family in families().items() for name in family[of]}


def _family(operation: Operation) -> str:
    """The tag of the operation; raises ValueError where no family has its module."""
    module = operation.handler.__module__.removeprefix("chat.")
    tag = _tags("operations").get(operation.name) or _tags("modules").get(module)
    if tag is None:
        raise ValueError(f"no family of {FAMILIES.name} has the module {module}")
    return tag


SESSION: Final = "session"
BOT: Final = "bot"
OAUTH2: Final = "oauth2"
ADMIN_KEY: Final = "adminKey"
CLIENT: Final = "oauth2Client"

Requirement = dict[str, list[str]]

_SCOPES: Final[Mapping[str, str]] = {
    Scope.IDENTIFY.value: "Read the account without its email address.",
    Scope.EMAIL.value: "Read the account's email address too.",
    Scope.GUILDS.value: "List and read the account's guilds.",
    Scope.CONNECTIONS.value: "List the account's connections.",
    Scope.BOT.value: "Add the application's bot to a guild.",
    ADMIN_SCOPE: "Use the administrative API; for the built-in Admin application only.",
}


def security_schemes(origin: str) -> dict[str, object]:
    """Every form of credential, for an instance at this origin."""
    return {
        SESSION: _header("A session token as it is (`cht_` and 36 characters), or behind `Bearer `."),
        BOT: _header("`Bot ` and a bot token, exactly in this spelling."),
        ADMIN_KEY: _header("`Admin ` and an admin API key (`cha_…`); below `/v1/admin` only."),
        CLIENT: {
            "type": "http",
            "scheme": "basic",
            "description": "An application's id and client secret, each form-encoded (RFC 6749 2.3.1).",
        },
        OAUTH2: {
            "type": "oauth2",
            "description": "`Bearer ` and an access token.",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": f"{origin}/v1/oauth2/authorize",
                    "tokenUrl": f"{origin}/v1/oauth2/token",
                    "refreshUrl": f"{origin}/v1/oauth2/token",
                    "scopes": dict(_SCOPES),
                }
            },
        },
    }


def _header(description: str) -> dict[str, str]:
    return {"type": "apiKey", "in": "header", "name": "Authorization", "description": description}


def security_of(operation: Operation) -> list[Requirement]:
    """The credentials that the operation takes, any of which will do; an empty one where none is needed."""
    return list(_requirements(operation))


def _requirements(operation: Operation) -> Iterator[Requirement]:
    match operation.policy:
        case Policy.URL:
            yield {}
        case Policy.NONE:
            yield {}
            if operation.client_credentials:
                yield {CLIENT: []}
            elif operation.bots_refused_with is None:
                yield {SESSION: []}
                yield {BOT: []}
        case Policy.USER | Policy.THREADS:
            yield {SESSION: []}
            if operation.bots_refused_with is None:
                yield {BOT: []}
        case Policy.USER_ONLY:
            yield {SESSION: []}
        case Policy.BOT | Policy.GATEWAY_BOT | Policy.OWN_APPLICATION:
            yield {BOT: []}
        case Policy.ADMIN:
            yield {SESSION: []}
            yield {OAUTH2: [ADMIN_SCOPE]}
            yield {ADMIN_KEY: []}
        case Policy.OAUTH2:
            yield {OAUTH2: [] if operation.scope is None else [operation.scope.value]}
    if operation.scope is not None and operation.policy is not Policy.OAUTH2:
        yield {OAUTH2: [operation.scope.value]}
