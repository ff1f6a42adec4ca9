"""The OpenAPI document of this API (http.md, OpenAPI document)."""

from __future__ import annotations

import orjson

from chat.api import buckets
from chat.api.openapi.published import PublishedDocument
from chat.api.operation import Answer, Policy, Request, Routes
from chat.api.schemas.shapes import NOTHING
from chat.media.delivery import matches

routes = Routes()


@routes.operation(
    "GET",
    "/v1/openapi.json",
    policy=Policy.NONE,
    bucket=buckets.OPENAPI,
    answers=lambda: {200: dict[str, object], 304: NOTHING},
)
async def get_openapi_document(request: Request, document: PublishedDocument) -> Answer[orjson.Fragment]:
    """This document: every operation, what it reads and what it answers."""
    edition = await document.edition()
    headers = {"ETag": edition.etag}
    if matches(request.headers.get("if-none-match"), edition.etag):
        return Answer(304, headers=headers)
    return Answer(200, orjson.Fragment(edition.content), headers)
