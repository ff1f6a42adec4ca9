"""Puts the area together: application commands and interactions."""

from __future__ import annotations

from collections.abc import Callable

from chat.classes import frozen
from chat.domain.applications.interaction_endpoints import InteractionEndpoints
from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.interactions.answers import Answers, Callback
from chat.domain.interactions.application_commands import ApplicationCommands
from chat.domain.interactions.command_permissions import CommandAccess
from chat.domain.interactions.endpoint_deliveries import EndpointDeliveries
from chat.domain.interactions.interactions import Interactions
from chat.domain.messages.assemble import MessagesArea
from chat.domain.standing.assemble import StandingArea


@frozen(kw_only=True)
class InteractionsArea:
    commands: ApplicationCommands
    command_access: CommandAccess
    interactions: Interactions
    answers: Answers
    deliveries: EndpointDeliveries

    @property
    def background(self) -> Background:
        return (self.interactions.run, self.deliveries.run)


def assemble(
    core: Core,
    standing: StandingArea,
    messages: MessagesArea,
    endpoints: InteractionEndpoints,
    read_callback: Callable[[bytes], Callback],
) -> InteractionsArea:
    """Build the area; `read_callback` reads an application's answer that came in the answer to a request."""
    command_access = CommandAccess(core=core)
    answers = Answers(core=core, messages=messages, witness=standing.witness)
    deliveries = EndpointDeliveries(core=core, endpoints=endpoints, answers=answers, read_callback=read_callback)
    return InteractionsArea(
        commands=ApplicationCommands(core=core),
        command_access=command_access,
        interactions=Interactions(core, command_access, messages.sending, messages.uploads, deliveries),
        answers=answers,
        deliveries=deliveries,
    )
