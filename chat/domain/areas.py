"""The fourteen areas of the domain, put together from the lowest up."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.applications.assemble import ApplicationsArea
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.imports.assemble import ImportsArea
from chat.domain.interactions.assemble import InteractionsArea
from chat.domain.messages.assemble import MessagesArea
from chat.domain.people.assemble import PeopleArea
from chat.domain.policy.assemble import PolicyArea
from chat.domain.presence.assemble import PresenceArea
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.standing.assemble import StandingArea
from chat.domain.threads.assemble import ThreadsArea
from chat.domain.webhooks.assemble import WebhooksArea


@frozen(kw_only=True)
class Areas:
    """Every service of the domain, by area; an area stands on those before it."""

    standing: StandingArea
    policy: PolicyArea
    presence: PresenceArea
    signing_in: SigningInArea
    messages: MessagesArea
    accounts: AccountsArea
    threads: ThreadsArea
    people: PeopleArea
    webhooks: WebhooksArea
    guilds: GuildsArea
    applications: ApplicationsArea
    interactions: InteractionsArea
    administration: AdministrationArea
    imports: ImportsArea
