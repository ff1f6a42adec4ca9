"""Puts the area together: application commands and interactions."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.interactions.answers import Answers
from chat.domain.interactions.application_commands import ApplicationCommands
from chat.domain.interactions.command_permissions import CommandAccess
from chat.domain.interactions.interactions import Interactions
from chat.domain.messages.assemble import MessagesArea
from chat.domain.standing.assemble import StandingArea


@frozen(kw_only=True)
class InteractionsArea:
    commands: ApplicationCommands
    command_access: CommandAccess
    interactions: Interactions
    answers: Answers

    @property
    def background(self) -> Background:
        return (self.interactions.run,)


def assemble(core: Core, standing: StandingArea, messages: MessagesArea) -> InteractionsArea:
    command_access = CommandAccess(core=core)
    return InteractionsArea(
        commands=ApplicationCommands(core=core),
        command_access=command_access,
        interactions=Interactions(
            core, command_access=command_access, sending=messages.sending, uploads=messages.uploads
        ),
        answers=Answers(core=core, messages=messages, witness=standing.witness),
    )
