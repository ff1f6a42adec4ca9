"""A small world for the domain's tests: real SQLite, real services, everything on the bus written down."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from chat.auth.address_bans import BlockedNetworks
from chat.auth.keys import Keys
from chat.auth.passwords import CHEAP, Passwords
from chat.auth.principal import CredentialKind, Principal
from chat.auth.tokens import TokenMint
from chat.bus.bus import Bus, Event, Signal
from chat.config import Settings
from chat.config.loading import Overrides
from chat.domain.core import Core
from chat.domain.guilds.claims import Claims
from chat.domain.guilds.group_invites import GroupInvites
from chat.domain.guilds.guilds import Guilds, GuildWish
from chat.domain.guilds.invites import Invites
from chat.domain.guilds.memberships import Memberships
from chat.domain.messages.message_deletion import MessageDeletion
from chat.domain.messages.message_editing import MessageEditing
from chat.domain.messages.message_events import SystemMessages
from chat.domain.messages.message_reading import Messages
from chat.domain.messages.message_sending import MessageSending
from chat.domain.messages.read_states import ReadStates
from chat.domain.messages.slowmode import Slowmode
from chat.domain.messages.typing_indicators import TypingIndicators
from chat.domain.people.groups import Groups
from chat.domain.policy.blocked_values import BlockedValues
from chat.domain.policy.errands import Errands
from chat.domain.policy.instance_policy import InstancePolicy
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.policy.origins import Origins
from chat.domain.presence.account_events import AccountEvents
from chat.domain.standing.access import Access
from chat.domain.standing.audit_log import AuditLog
from chat.domain.standing.guild_states import GuildState, GuildStates
from chat.domain.standing.private_channels import PrivateChannels
from chat.domain.standing.thread_access import ChannelWitness, ThreadLookup
from chat.errors import ApiError, InvalidFormBody
from chat.media.delivery import MediaAddresses
from chat.media.storage import MediaStorage
from chat.registries.events import EventName
from chat.registries.guild_values import JoinSource
from chat.snowflake import SnowflakeGenerator
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.database import Database
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels, members, roles
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.roles import Role

START_MS = 1_800_000_000_000


class HandClock:
    """A time of day that stands still until it is moved."""

    def __init__(self) -> None:
        self.ms = START_MS

    def now_ms(self) -> int:
        return self.ms


class Recorder:
    """A subscriber that writes everything down."""

    def __init__(self) -> None:
        self.signals: list[Signal] = []

    def accept(self, signal: Signal) -> None:
        self.signals.append(signal)

    def events(self, name: EventName | None = None) -> list[Event]:
        """Dispatches so far, of one name or of all."""
        events = [signal for signal in self.signals if isinstance(signal, Event)]
        return events if name is None else [event for event in events if event.name == name]


@attrs.frozen
class SeenChannels:
    """Channels as those see them who are in them."""

    access: Access

    async def get(self, principal: Principal, channel_id: int) -> dict[str, Any]:
        """One channel."""
        return self.access.channel(principal, channel_id).channel_object()


class GuildWorld:
    """Services over one database, and short ways to people and places."""

    def __init__(self, database: Database, settings: Settings, directory: Path = Path("no-files")) -> None:
        self.database = database
        self.settings = settings
        self.clock = HandClock()
        self.bus = Bus()
        self.heard = Recorder()
        self.bus.subscribe_all(self.heard.accept)
        self.snowflakes = SnowflakeGenerator(self.clock)
        self.guild_states = GuildStates(database, self.clock)
        self.online: dict[int, int] = {}
        self.connected: set[int] = set()
        self.private_channels = PrivateChannels(
            database, self.bus, self.snowflakes, settings, partial_user_of=lambda user_id: {"id": str(user_id)}
        )
        access = Access(self.guild_states, self.private_channels.find)
        blocked = BlockedValues(settings, BlockedNetworks())
        self.access = access
        keys, chance = Keys(bytes(32), random.Random(8)), random.Random(7)
        addresses = MediaAddresses(settings.public_url, keys, self.clock)
        storage = MediaStorage(directory / "uploads", in_threads=False)
        media = MediaLibrary(database, self.clock, self.snowflakes, storage, addresses, settings, blocked)
        self.core = core = Core(
            settings=settings,
            overrides=Overrides(settings),
            database=database,
            clock=self.clock,
            bus=self.bus,
            chance=chance,
            snowflakes=self.snowflakes,
            mint=TokenMint(chance),
            keys=keys,
            passwords=Passwords(chance, CHEAP, in_threads=False),
            directory=directory,
            in_threads=False,
            guild_states=self.guild_states,
            access=access,
            audit_log=AuditLog(database, access, self.bus, self.clock, self.snowflakes),
            policy=InstancePolicy(settings),
            blocked=blocked,
            account_events=AccountEvents(database, self.bus, self.clock, settings, self.guild_states),
            errands=Errands(database),
            media_addresses=addresses,
            origins=Origins(settings.public_url),
        )
        self.guilds = Guilds(core=core, media=media, online_count=lambda guild_id: self.online.get(guild_id, 0))
        self.memberships = Memberships(core=core)
        self.channels = SeenChannels(access)
        self.messages = Messages(core=core)
        self.sending = MessageSending(
            core, self.private_channels, Slowmode(), lambda guild_id: sorted(self.connected), poll_begun=lambda: None
        )
        witness = ChannelWitness(self.guild_states, self.private_channels, ThreadLookup(database))
        self.deletion = MessageDeletion(core, witness)
        self.editing = MessageEditing(core=core, deletion=self.deletion)
        self.read_states = ReadStates(core=core)
        system_messages = SystemMessages(core=core, private_channels=self.private_channels)
        groups = Groups(core=core, private_channels=self.private_channels, system_messages=system_messages, media=media)
        self.group_invites = GroupInvites(core=core, groups=groups, is_online=lambda user_id: user_id in self.connected)
        self.claims = Claims(core)
        self.invites = Invites(
            core=core,
            memberships=self.memberships,
            randomness=chance,
            online_count=lambda guild_id: self.online.get(guild_id, 0),
            is_connected=lambda user_id: user_id in self.connected,
            group_invites=self.group_invites,
            claims=self.claims,
        )
        self.typing = TypingIndicators(core=core)

    async def person(self, name: str, **changes: Any) -> Principal:
        """A claimed and verified account with a session, unless `changes` say otherwise."""
        account = Account(
            id=self.snowflakes(),
            username=name,
            discriminator=1,
            email=f"{name}@example.com",
            email_verified=True,
            password_hash="hash",
            created_at=self.clock.now_ms() - 86_400_000,
        )
        account = attrs.evolve(account, **changes)
        await self.database.write(lambda connection: accounts.insert(connection, account))
        kind = CredentialKind.BOT if account.bot else CredentialKind.SESSION
        return Principal(account, kind)

    async def create(self, owner: Principal, name: str, **wish: Any) -> dict[str, Any]:
        """Create guild."""
        return await self.guilds.create(owner, GuildWish(name=name, **wish))

    async def guild(self, owner: Principal, *joiners: Principal) -> GuildPlace:
        """A guild with its default channels and these members."""
        created = await self.create(owner, "Harbour")
        guild_id = int(created["id"])
        for joiner in joiners:
            await self.memberships.join(joiner.account, guild_id, JoinSource.INSTANT_INVITE, guard=UNGUARDED)
        self.heard.signals.clear()
        return GuildPlace(self, guild_id)


class GuildPlace:
    """One guild of the world, and ways to change it that have no operation yet."""

    def __init__(self, world: GuildWorld, guild_id: int) -> None:
        self.world = world
        self.id = guild_id

    @property
    def state(self) -> GuildState:
        state = self.world.guild_states.get(self.id)
        assert state is not None
        return state

    def channel_id(self, name: str) -> int:
        """The channel of this name."""
        return next(channel.id for channel in self.state.channels.values() if channel.name == name)

    @property
    def general(self) -> int:
        """The text channel that every guild starts with."""
        return self.channel_id("general")

    async def change(self, statement: str, *values: object) -> None:
        """Change the stored guild by hand; the state is read afresh."""
        await self.world.database.write(lambda connection: connection.execute(statement, values))
        self.world.guild_states.refresh(self.id)

    async def set(self, column: str, value: object) -> None:
        """Change one column of the guild."""
        await self.change(f"UPDATE guilds SET {column} = ? WHERE id = ?", value, self.id)  # noqa: S608

    async def role(self, permissions: int, *holders: Principal, **changes: Any) -> int:
        """A new role with these permissions for these members."""
        role = Role(self.world.snowflakes(), self.id, "role", 1, permissions, **changes)

        def unit(connection: Any) -> None:
            roles.insert(connection, [role])
            for holder in holders:
                members.add_roles(connection, self.id, holder.user_id, [role.id])

        await self.world.database.write(unit)
        self.world.guild_states.refresh(self.id)
        return role.id

    async def everyone(self, permissions: int) -> None:
        """Give the everyone role these permissions and no others."""
        await self.change("UPDATE roles SET permissions = ? WHERE id = ?", permissions, self.id)

    async def channel(self, type: int, name: str, overwrites: Sequence[Overwrite] = (), **changes: Any) -> int:
        """A new channel."""
        channel = Channel(self.world.snowflakes(), self.id, type, name, overwrites=tuple(overwrites), **changes)
        await self.world.database.write(lambda connection: channels.insert(connection, [channel]))
        self.world.guild_states.refresh(self.id)
        return channel.id

    async def overwrite(self, channel_id: int, *overwrites: Overwrite) -> None:
        """Add overwrites to a channel."""
        await self.world.database.write(lambda connection: channels.put_overwrites(connection, channel_id, overwrites))
        self.world.guild_states.refresh(self.id)


class refused:  # noqa: N801 - reads as a phrase
    """`with refused("CODE"):` the block must raise that refusal; `"CODE at path"` for a wrong field."""

    def __init__(self, expected: str) -> None:
        self.expected = expected
        self.error: ApiError | None = None

    def __enter__(self) -> refused:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> bool:
        assert error is not None, f"nothing was refused; {self.expected} was expected"
        if isinstance(error, InvalidFormBody):
            assert f"{error.errors[0].code} at {error.errors[0].path}" == self.expected
        elif isinstance(error, ApiError):
            assert error.code == self.expected
        else:
            return False
        self.error = error
        return True
