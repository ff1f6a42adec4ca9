"""Puts the area together: applications, their bots and OAuth2."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.applications.applications import Applications
from chat.domain.applications.interaction_endpoints import InteractionEndpoints
from chat.domain.applications.oauth2_authorization import BotInstallation, OAuth2Authorization
from chat.domain.applications.oauth2_identity import OAuth2Identity
from chat.domain.applications.oauth2_protocol import OAuth2Clients
from chat.domain.applications.oauth2_tokens import OAuth2Tokens
from chat.domain.core import Core
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.policy.assemble import PolicyArea
from chat.domain.signing_in.assemble import SigningInArea


@frozen(kw_only=True)
class ApplicationsArea:
    applications: Applications
    endpoints: InteractionEndpoints
    oauth2_authorization: OAuth2Authorization
    oauth2_tokens: OAuth2Tokens
    oauth2_identity: OAuth2Identity


def assemble(
    core: Core, policy: PolicyArea, signing_in: SigningInArea, accounts: AccountsArea, guilds: GuildsArea
) -> ApplicationsArea:
    """Build the area."""
    clients = OAuth2Clients(settings=core.settings)
    endpoints = InteractionEndpoints(core)
    return ApplicationsArea(
        endpoints=endpoints,
        applications=Applications(
            core=core,
            usernames=policy.usernames,
            sudo=signing_in.sudo,
            rules=policy.profile_rules,
            memberships=guilds.memberships,
            images=accounts.account_images,
            endpoints=endpoints,
        ),
        oauth2_authorization=OAuth2Authorization(
            core, clients=clients, bots=BotInstallation(core=core, memberships=guilds.memberships, roles=guilds.roles)
        ),
        oauth2_tokens=OAuth2Tokens(core=core, clients=clients),
        oauth2_identity=OAuth2Identity(core=core, clients=clients),
    )
