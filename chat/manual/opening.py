"""The whole manual: its files, and the references that are made of the operations' declarations."""

from __future__ import annotations

import functools
from typing import Any

from chat.admin.routes import ADMIN_ROUTES
from chat.api.openapi.document import openapi_document
from chat.api.routes.every import ROUTES
from chat.manual.api_pages import PART, api_sources
from chat.manual.library import Library, MadePages


def open_manual(*, is_development: bool = False) -> Library:
    """The manual of this version; nothing is rendered yet."""
    return Library(_made, is_development=is_development)


def _made() -> MadePages:
    return {PART: api_sources(_document)}


@functools.cache
def _document() -> dict[str, Any]:
    return openapi_document([*ROUTES, *ADMIN_ROUTES], "")
