"""The contract of the wire: each object that answers and events are made of is declared once, in a module of this
package.

Those who make an object return its type, so that a misspelt or missing member fails mypy; the documents, the pages of
/docs, the strategies of the test kit and the types of the web client are made of the same declarations
(`chat.api.schemas.declared`). Say `from chat import wire` and `wire.Message`: a name is looked up when something asks
for it at run time, and annotations ask for nothing. So a start imports none of the modules.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from chat.wire.account_settings import *
    from chat.wire.accounts import *
    from chat.wire.administered_instance import *
    from chat.wire.administration import *
    from chat.wire.applications import *
    from chat.wire.brought_exports import *
    from chat.wire.channels import *
    from chat.wire.events import *
    from chat.wire.guild_management import *
    from chat.wire.guilds import *
    from chat.wire.instance import *
    from chat.wire.interactions import *
    from chat.wire.message_lists import *
    from chat.wire.messages import *
    from chat.wire.moderation import *
    from chat.wire.people import *
    from chat.wire.polls import *
    from chat.wire.presences import *
    from chat.wire.ready import *
    from chat.wire.signing_in import *
    from chat.wire.storage import *
    from chat.wire.told_interactions import *
    from chat.wire.values import *

MODULES: Final = (
    "account_settings",
    "accounts",
    "administered_instance",
    "administration",
    "applications",
    "brought_exports",
    "channels",
    "events",
    "guild_management",
    "guilds",
    "instance",
    "interactions",
    "message_lists",
    "messages",
    "moderation",
    "people",
    "polls",
    "presences",
    "ready",
    "signing_in",
    "storage",
    "told_interactions",
    "values",
)


def __getattr__(name: str) -> Any:
    """A declaration by its name."""
    for module in MODULES:
        found = vars(importlib.import_module(f"{__name__}.{module}")).get(name)
        if found is not None:
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__} has no {name}")
