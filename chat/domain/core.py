"""The services that most others use: the ground of the server, and the rules that every area asks."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.ground import Ground
from chat.domain.policy.blocked_values import BlockedValues
from chat.domain.policy.errands import Errands
from chat.domain.policy.instance_policy import InstancePolicy
from chat.domain.policy.origins import Origins
from chat.domain.presence.account_events import AccountEvents
from chat.domain.standing.access import Access
from chat.domain.standing.audit_log import AuditLog
from chat.domain.standing.guild_states import GuildStates
from chat.media.delivery import MediaAddresses


@frozen(kw_only=True)
class Core(Ground):
    """The ground, and the rules that every area asks."""

    guild_states: GuildStates
    access: Access
    audit_log: AuditLog
    policy: InstancePolicy
    blocked: BlockedValues
    account_events: AccountEvents
    errands: Errands
    media_addresses: MediaAddresses
    origins: Origins
