"""Puts the area together: imports of communities."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.imports.brought_exports import BroughtExports
from chat.domain.imports.import_undoing import ImportUndoing
from chat.domain.imports.imports import Imports
from chat.domain.messages.assemble import MessagesArea
from chat.domain.policy.assemble import PolicyArea


@frozen(kw_only=True)
class ImportsArea:
    imports: Imports
    undoing: ImportUndoing
    brought: BroughtExports


def assemble(core: Core, policy: PolicyArea, messages: MessagesArea, guilds: GuildsArea) -> ImportsArea:
    """Build the area."""
    return ImportsArea(
        imports=Imports(core, policy.media, messages.uploads),
        undoing=ImportUndoing(core),
        brought=BroughtExports(core, policy.media, guilds.guilds),
    )
