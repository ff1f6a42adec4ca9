"""The whole manual: its files, and the references that are made of declarations when they are first asked for."""

from __future__ import annotations

import functools

from chat.admin.routes import ADMIN_ROUTES
from chat.api.openapi.document import openapi_document
from chat.api.routes.every import ROUTES
from chat.manual.api_pages import PART, api_sources
from chat.manual.asyncapi import asyncapi_text
from chat.manual.command_page import commands_page
from chat.manual.gateway_pages import codes_page, events_page, states_page
from chat.manual.library import Library, PageSource
from chat.manual.setting_pages import limits_page, settings_page
from chat.manual.value_pages import permissions_page, values_page
from chat.web.manual import PageEntry

MADE = (
    PageSource(PageEntry("settings", "Settings"), settings_page),
    PageSource(PageEntry("commands", "Commands"), commands_page),
    PageSource(PageEntry("permissions", "Permissions, scopes and rights"), permissions_page),
    PageSource(PageEntry("values", "Values"), values_page),
    PageSource(PageEntry("limits", "Limits"), limits_page),
    PageSource(PageEntry("gateway-events", "Events"), events_page),
    PageSource(PageEntry("gateway-codes", "Opcodes and close codes"), codes_page),
    PageSource(PageEntry("gateway-states", "States of a connection"), states_page),
)
"""Pages that `contents` names and no file has."""


def open_manual(*, is_development: bool = False) -> Library:
    """The manual of this version; nothing is rendered yet."""
    return Library(
        MADE,
        {PART: api_sources(_document)},
        asyncapi=lambda: asyncapi_text(_document()),
        is_development=is_development,
    )


@functools.cache
def _document() -> dict[str, object]:
    return openapi_document([*ROUTES, *ADMIN_ROUTES], "")
