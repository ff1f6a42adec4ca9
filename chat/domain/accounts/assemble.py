"""Puts the area together: what accounts change of themselves, and what their own sessions see of it."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.accounts.account_images import AccountImages
from chat.domain.accounts.account_states import AccountStates
from chat.domain.accounts.accounts import AccountClosing, Accounts
from chat.domain.accounts.notification_settings import UserGuildSettings
from chat.domain.accounts.notification_words import NotificationWords
from chat.domain.accounts.push_notifications import PushNotifications
from chat.domain.accounts.push_subscriptions import PushSubscriptions
from chat.domain.accounts.user_settings import SettingsDue, UserNotes, UserSettings
from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.messages.assemble import MessagesArea
from chat.domain.policy.assemble import PolicyArea
from chat.domain.presence.assemble import PresenceArea
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.standing.assemble import StandingArea
from chat.push.encryption import Vapid
from chat.push.sending import PushSender


@frozen(kw_only=True)
class AccountsArea:
    accounts: Accounts
    account_closing: AccountClosing
    account_images: AccountImages
    account_states: AccountStates
    user_settings: UserSettings
    user_guild_settings: UserGuildSettings
    notification_words: NotificationWords
    user_notes: UserNotes
    push_subscriptions: PushSubscriptions
    push_notifications: PushNotifications
    vapid: Vapid

    @property
    def background(self) -> Background:
        """The tasks that run as long as the server does."""
        return (self.push_notifications.run, self.user_settings.due.run)


def assemble(
    core: Core,
    standing: StandingArea,
    policy: PolicyArea,
    presence: PresenceArea,
    signing_in: SigningInArea,
    messages: MessagesArea,
) -> AccountsArea:
    """Build the area."""
    settings, sudo = core.settings, signing_in.sudo
    images = AccountImages(core=core, media=policy.media)
    sender = PushSender(settings.push.private_networks_allowed) if settings.push.enabled else None
    vapid = Vapid(core.keys, core.clock, settings.push_contact)
    subscriptions = PushSubscriptions(core=core, sender=sender)
    return AccountsArea(
        accounts=Accounts(
            core=core,
            new_passwords=signing_in.new_passwords,
            addresses=signing_in.address_wishes,
            sudo=sudo,
            usernames=policy.usernames,
            rules=policy.profile_rules,
            images=images,
        ),
        account_closing=AccountClosing(core=core, sudo=sudo),
        account_images=images,
        account_states=AccountStates(
            core=core,
            relationships=standing.relationships,
            private_channels=standing.private_channels,
            calls=presence.active_calls.of_account,
            favorite_memes=messages.favorite_memes.of_user,
        ),
        user_settings=UserSettings(core=core, due=SettingsDue(core)),
        notification_words=NotificationWords(core=core),
        user_guild_settings=UserGuildSettings(core=core),
        user_notes=UserNotes(core=core),
        push_subscriptions=subscriptions,
        push_notifications=PushNotifications(
            core=core, presences=presence.presences, subscriptions=subscriptions, sender=sender, vapid=vapid
        ),
        vapid=vapid,
    )
