"""Tells those who see an account that it changed: its own sessions, the guilds it is a member of, and, through its
presence, its friends."""

from __future__ import annotations

from chat.bus.audience import ToAccounts, ToGuild
from chat.bus.bus import AccountShownDifferently, Bus, CredentialsRevoked, Event
from chat.classes import define
from chat.clock import Clock
from chat.config import Settings
from chat.domain.standing.guild_states import GuildStates
from chat.domain.standing.user_objects import authenticator_types, partial_user, private_user
from chat.domain.standing.verification import holder_of_factors
from chat.registries.events import EventName
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.applications import applications
from chat.store.applications.applications import Application
from chat.store.database import Database
from chat.store.guilds import guilds


@define(eq=False)
class AccountEvents:
    """Publishes what follows from a change of an account. Call it after the commit."""

    _database: Database
    _bus: Bus
    _clock: Clock
    _settings: Settings
    _guild_states: GuildStates

    def changed(self, before: Account, after: Account) -> None:
        """USER_UPDATE for the account itself; where others see a difference, GUILD_MEMBER_UPDATE for its guilds and
        PRESENCE_UPDATE for those who are told of its presence without asking. Its bots see its second factors as
        their own."""
        self.seen_by_itself(after)
        if authenticator_types(before) != authenticator_types(after):
            for application in applications.of_owner(self._database.reader, after.id):
                self.bot_seen_by_itself(application)
        user = partial_user(after)
        if user == partial_user(before):
            return
        self._bus.publish(AccountShownDifferently(after.id))
        for guild_id in guilds.ids_of_user(self._database.reader, after.id):
            # A guild that is not in memory has no session connected to it.
            state = self._guild_states.loaded(guild_id)
            member = None if state is None else state.member(after.id)
            if state is not None and member is not None:
                data = {**state.member_object(member, user), "guild_id": str(guild_id)}
                self._bus.publish(Event(EventName.GUILD_MEMBER_UPDATE, data, ToGuild(guild_id)))

    def seen_by_itself(self, account: Account) -> None:
        """USER_UPDATE for the account itself."""
        own = private_user(
            account,
            factors_of=holder_of_factors(self._database.reader, account),
            now_ms=self._clock.now_ms(),
            premium_for_everyone=self._settings.premium_mode == "everyone",
        )
        self._bus.publish(Event(EventName.USER_UPDATE, own, ToAccounts((account.id,))))

    def bot_seen_by_itself(self, application: Application) -> None:
        """USER_UPDATE for an application's bot, whose owner it shows something of."""
        bot = (
            None if application.bot_user_id is None else accounts.by_id(self._database.reader, application.bot_user_id)
        )
        if bot is not None:
            self.seen_by_itself(bot)

    def signed_out(self, user_id: int, *session_id_hashes: str) -> None:
        """Sign-ins ended: the named ones, or where none is named all of the account's, bot tokens included."""
        if session_id_hashes:
            self._bus.publish(*(CredentialsRevoked(user_id, session_id_hash) for session_id_hash in session_id_hashes))
        else:
            self._bus.publish(CredentialsRevoked(user_id))
