"""Puts the area together: application commands and interactions."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.interactions.application_commands import ApplicationCommands
from chat.domain.interactions.command_permissions import CommandAccess


@frozen(kw_only=True)
class InteractionsArea:
    commands: ApplicationCommands
    command_access: CommandAccess


def assemble(core: Core) -> InteractionsArea:
    return InteractionsArea(commands=ApplicationCommands(core=core), command_access=CommandAccess(core=core))
