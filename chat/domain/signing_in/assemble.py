"""Puts the area together: registration, sign-in, second factors, email addresses and recovery."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from chat.auth.openid_connect import OpenIdConnect
from chat.auth.outgoing_http import OutgoingHttp
from chat.auth.sudo_token import SudoTokens
from chat.auth.typed_codes import TypedCodes
from chat.auth.webauthn_options import RelyingParty
from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.policy.assemble import PolicyArea
from chat.domain.signing_in.address_lookups import AddressLookups
from chat.domain.signing_in.address_wishes import AddressWishes
from chat.domain.signing_in.authentication import Authentication
from chat.domain.signing_in.backup_codes import BackupCodes
from chat.domain.signing_in.email_addresses import EmailAddresses
from chat.domain.signing_in.email_change import EmailChanges
from chat.domain.signing_in.email_replacement import EmailReplacements
from chat.domain.signing_in.email_revert import EmailReverts
from chat.domain.signing_in.email_verification import EmailVerification
from chat.domain.signing_in.geolocation import Geolocation
from chat.domain.signing_in.handoffs import Handoffs
from chat.domain.signing_in.ip_authorization import IpAuthorization
from chat.domain.signing_in.login_completion import LoginCompletion
from chat.domain.signing_in.login_tickets import LoginTickets
from chat.domain.signing_in.mail_bounces import MailBounces
from chat.domain.signing_in.mailed_codes import MailedCodes
from chat.domain.signing_in.mfa_codes import MfaCodes
from chat.domain.signing_in.new_passwords import NewPasswords
from chat.domain.signing_in.passkey_assertions import PasskeyAssertions
from chat.domain.signing_in.passkey_bridge import PasskeyBridge
from chat.domain.signing_in.passkeys import Passkeys
from chat.domain.signing_in.password_change import PasswordChanges
from chat.domain.signing_in.password_recovery import PasswordRecovery
from chat.domain.signing_in.pending_registrations import PendingRegistrations
from chat.domain.signing_in.recovery_kit import RecoveryKits
from chat.domain.signing_in.registration import Registration
from chat.domain.signing_in.reverse_dns import ReverseDns
from chat.domain.signing_in.second_factors import SecondFactors
from chat.domain.signing_in.sign_ins import SignIns
from chat.domain.signing_in.single_sign_on import SingleSignOn
from chat.domain.signing_in.sso_accounts import SsoAccounts
from chat.domain.signing_in.sudo import SudoMode
from chat.domain.signing_in.totp import Totp
from chat.domain.signing_in.user_agents import UserAgents
from chat.domain.signing_in.username_suggestions import UsernameSuggestions
from chat.domain.signing_in.webauthn_challenges import WebauthnChallenges
from chat.mail.mailer import Mailer

if TYPE_CHECKING:
    from chat.mail.outbox import Outbox


@attrs.frozen(kw_only=True)
class Guesses:
    """How often sudo mode may be guessed at: a code more or not, seconds to wait before another password."""

    may_guess_code: Callable[[int], bool]
    wait_to_guess_password: Callable[[int], float]


@attrs.frozen(kw_only=True)
class SigningInArea:
    """The services of signing in."""

    address_lookups: AddressLookups
    user_agents: UserAgents
    outbox: Outbox | None
    """Where mail waits for the SMTP server; None where none is sent."""
    mailer: Mailer
    sign_ins: SignIns
    authentication: Authentication
    login_completion: LoginCompletion
    passkey_bridge: PasskeyBridge
    handoffs: Handoffs
    ip_authorization: IpAuthorization
    single_sign_on: SingleSignOn
    registration: Registration
    pending_registrations: PendingRegistrations
    username_suggestions: UsernameSuggestions
    verification: EmailVerification
    factors: SecondFactors
    totp: Totp
    passkeys: Passkeys
    sudo: SudoMode
    new_passwords: NewPasswords
    address_wishes: AddressWishes
    password_recovery: PasswordRecovery
    password_changes: PasswordChanges
    email_changes: EmailChanges
    email_replacements: EmailReplacements
    email_reverts: EmailReverts
    recovery_kits: RecoveryKits

    @property
    def background(self) -> Background:
        """What runs as long as the server does."""
        return (self.sign_ins.run, *(() if self.outbox is None else (self.outbox.run,)))


def assemble(core: Core, policy: PolicyArea, guesses: Guesses) -> SigningInArea:
    """Build the area."""
    settings, clock, database = core.settings, core.clock, core.database
    outbox = _outbox(core)
    mailer = Mailer(settings.mail.mode, clock, outbox)
    lookups, user_agents = _address_lookups(core), UserAgents(in_threads=core.in_threads)
    backup_codes = BackupCodes(core.keys, core.chance)
    codes = MfaCodes(clock, core.keys, backup_codes)
    challenges = WebauthnChallenges(core=core)
    party = RelyingParty.of(settings)
    factors = SecondFactors(
        database=database,
        codes=codes,
        assertions=PasskeyAssertions(core=core, challenges=challenges, party=party),
        may_guess=guesses.may_guess_code,
    )
    sign_ins = SignIns(core, lookups=lookups, user_agents=user_agents)
    sudo = SudoMode(
        passwords=core.passwords,
        factors=factors,
        tokens=SudoTokens(core.keys, clock),
        wait_to_guess=guesses.wait_to_guess_password,
        is_freshly_proved=sign_ins.is_freshly_proved,
    )
    verification = EmailVerification(core=core, mailer=mailer)
    tickets = LoginTickets(core=core, sign_ins=sign_ins)
    ip_authorization = IpAuthorization(core, mailer=mailer, sign_ins=sign_ins)
    authentication = Authentication(core, sign_ins=sign_ins, tickets=tickets, addresses=ip_authorization)
    typed = TypedCodes(core.keys, core.chance)
    mailed = MailedCodes(core=core, codes=typed)
    new_passwords = NewPasswords(core=core)
    addresses = EmailAddresses(core=core, mailer=mailer)
    email_changes = EmailChanges(core, mailer=mailer, codes=mailed, addresses=addresses, sudo=sudo)
    return SigningInArea(
        address_lookups=lookups,
        user_agents=user_agents,
        outbox=outbox,
        mailer=mailer,
        sign_ins=sign_ins,
        authentication=authentication,
        login_completion=LoginCompletion(authentication=authentication, tickets=tickets, factors=factors, codes=codes),
        passkey_bridge=PasskeyBridge(core=core, authentication=authentication, sign_ins=sign_ins, factors=factors),
        handoffs=Handoffs(core=core, authentication=authentication, sign_ins=sign_ins),
        ip_authorization=ip_authorization,
        single_sign_on=_single_sign_on(core, policy, authentication, sign_ins, ip_authorization),
        registration=Registration(
            core=core,
            usernames=policy.usernames,
            sign_ins=sign_ins,
            verification=verification,
            ip_authorization=ip_authorization,
        ),
        pending_registrations=PendingRegistrations(database, clock),
        username_suggestions=UsernameSuggestions(core=core, usernames=policy.usernames),
        verification=verification,
        factors=factors,
        totp=Totp(
            core=core,
            backup_codes=backup_codes,
            codes=codes,
            factors=factors,
            sudo=sudo,
            verifies_addresses=lambda: verification.is_needed,
        ),
        passkeys=Passkeys(core=core, challenges=challenges, party=party, sudo=sudo),
        sudo=sudo,
        new_passwords=new_passwords,
        address_wishes=AddressWishes(
            core, mailer=mailer, changes=email_changes, addresses=addresses, verification=verification
        ),
        password_recovery=PasswordRecovery(
            core=core, mailer=mailer, authentication=authentication, new_passwords=new_passwords
        ),
        password_changes=PasswordChanges(
            core=core,
            mailer=mailer,
            codes=mailed,
            factors=factors,
            sudo=sudo,
            authentication=authentication,
            new_passwords=new_passwords,
        ),
        email_changes=email_changes,
        email_replacements=EmailReplacements(core=core, codes=mailed, addresses=addresses, sudo=sudo),
        email_reverts=EmailReverts(core=core, authentication=authentication, new_passwords=new_passwords),
        recovery_kits=RecoveryKits(
            core, codes=typed, sudo=sudo, authentication=authentication, new_passwords=new_passwords
        ),
    )


def _single_sign_on(
    core: Core,
    policy: PolicyArea,
    authentication: Authentication,
    sign_ins: SignIns,
    ip_authorization: IpAuthorization,
) -> SingleSignOn:
    settings = core.settings
    # Connections of its own: a provider that hangs takes none from anybody else.
    outgoing = OutgoingHttp(in_threads=core.in_threads)
    key = core.keys.of("single sign-on")
    connect = OpenIdConnect(settings.sso, settings.sso_redirect_uri, key, outgoing, core.clock)
    newcomers = SsoAccounts(core=core, usernames=policy.usernames, sign_ins=sign_ins, addresses=ip_authorization)
    return SingleSignOn(
        core=core,
        connect=connect if settings.sso.is_on else None,
        authentication=authentication,
        newcomers=newcomers,
    )


def _address_lookups(core: Core) -> AddressLookups:
    settings, path = core.settings, core.settings.geolocation_file
    reverse = ReverseDns(settings.reverse_dns.name_servers, in_threads=core.in_threads)
    return AddressLookups(
        reverse if settings.reverse_dns.enabled else None,
        # A relative path starts in the data directory, where chat.toml lies.
        None if path is None else Geolocation(core.directory / path, in_threads=core.in_threads),
    )


def _outbox(core: Core) -> Outbox | None:
    """The outbox of an instance that sends mail."""
    if core.settings.mail.mode != "smtp":
        return None
    from chat.mail.outbox import Outbox, Sender  # an instance that sends none starts without smtplib and its like

    sender, bounces = Sender.of(core.settings), MailBounces(events=core.account_events)
    return Outbox(core.database, core.clock, core.chance, core.keys, sender, bounces, in_threads=core.in_threads)
