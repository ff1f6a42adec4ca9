"""Puts the area together: registration, sign-in, second factors, email addresses and recovery."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from chat.auth.keys import SudoTokens
from chat.auth.openid_connect import OpenIdConnect
from chat.auth.outgoing_http import OutgoingHttp
from chat.auth.typed_codes import TypedCodes
from chat.auth.webauthn import RelyingParty
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.policy.assemble import PolicyArea
from chat.domain.signing_in.authentication import Authentication, LoginCompletion, LoginTickets
from chat.domain.signing_in.client_info import AddressLookups, Geolocation, UserAgents
from chat.domain.signing_in.email_addresses import EmailAddresses, EmailVerification, MailBounces
from chat.domain.signing_in.email_change import AddressWishes, EmailChanges
from chat.domain.signing_in.handoffs import Handoffs, PasskeyBridge
from chat.domain.signing_in.ip_authorization import IpAuthorization
from chat.domain.signing_in.mailed_codes import MailedCodes
from chat.domain.signing_in.mfa_codes import BackupCodes, MfaCodes
from chat.domain.signing_in.passkey_assertions import PasskeyAssertions, WebauthnChallenges
from chat.domain.signing_in.passkeys import Passkeys
from chat.domain.signing_in.password_change import NewPasswords, PasswordChanges
from chat.domain.signing_in.recovery import EmailReverts, PasswordRecovery, RecoveryKits
from chat.domain.signing_in.registration import PendingRegistrations, Registration
from chat.domain.signing_in.reverse_dns import ReverseDns
from chat.domain.signing_in.sign_ins import SignIns
from chat.domain.signing_in.single_sign_on import SingleSignOn, SsoAccounts
from chat.domain.signing_in.sudo import SecondFactors, SudoMode
from chat.domain.signing_in.totp import Totp
from chat.mail.mailer import Mailer

if TYPE_CHECKING:
    from chat.mail.outbox import Outbox


@frozen(kw_only=True)
class Guesses:
    """How often sudo mode may be guessed at: a code more or not, seconds to wait before another password."""

    may_guess_code: Callable[[int], bool]
    wait_to_guess_password: Callable[[int], float]


@frozen(kw_only=True)
class SigningInArea:
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
    verification: EmailVerification
    assertions: PasskeyAssertions
    factors: SecondFactors
    totp: Totp
    passkeys: Passkeys
    sudo: SudoMode
    new_passwords: NewPasswords
    address_wishes: AddressWishes
    password_recovery: PasswordRecovery
    password_changes: PasswordChanges
    email_changes: EmailChanges
    email_reverts: EmailReverts
    recovery_kits: RecoveryKits

    @property
    def background(self) -> Background:
        """What runs as long as the server does."""
        return (self.sign_ins.run, *(() if self.outbox is None else (self.outbox.run,)))


@frozen(kw_only=True)
class _Proofs:
    """By what accounts prove themselves."""

    codes: MfaCodes
    challenges: WebauthnChallenges
    party: RelyingParty
    assertions: PasskeyAssertions
    factors: SecondFactors
    sudo: SudoMode


def assemble(core: Core, policy: PolicyArea, guesses: Guesses) -> SigningInArea:
    """Build the area."""
    outbox = _outbox(core)
    mailer = Mailer(core.settings.mail.mode, core.clock, outbox)
    lookups, user_agents = _address_lookups(core), UserAgents(in_threads=core.in_threads)
    sign_ins = SignIns(core=core, lookups=lookups, user_agents=user_agents)
    proofs = _proofs(core, guesses, sign_ins)
    factors, sudo = proofs.factors, proofs.sudo
    verification = EmailVerification(core=core, mailer=mailer)
    tickets = LoginTickets(core=core, sign_ins=sign_ins)
    networks = IpAuthorization(core=core, mailer=mailer, sign_ins=sign_ins)
    entry = Authentication(core=core, sign_ins=sign_ins, tickets=tickets, networks=networks)
    typed = TypedCodes(core.keys, core.chance)
    mailed = MailedCodes(core=core, codes=typed)
    passwords = NewPasswords(core=core)
    addresses = EmailAddresses(core=core, mailer=mailer)
    changes = EmailChanges(core=core, mailer=mailer, codes=mailed, addresses=addresses, sudo=sudo)
    return SigningInArea(
        address_lookups=lookups,
        user_agents=user_agents,
        outbox=outbox,
        mailer=mailer,
        sign_ins=sign_ins,
        authentication=entry,
        login_completion=LoginCompletion(
            authentication=entry, tickets=tickets, factors=factors, assertions=proofs.assertions, codes=proofs.codes
        ),
        passkey_bridge=PasskeyBridge(core=core, authentication=entry, sign_ins=sign_ins, assertions=proofs.assertions),
        handoffs=Handoffs(core=core, authentication=entry, sign_ins=sign_ins),
        ip_authorization=networks,
        single_sign_on=_single_sign_on(core, policy, entry, sign_ins, networks),
        registration=Registration(
            core=core, usernames=policy.usernames, sign_ins=sign_ins, verification=verification, networks=networks
        ),
        pending_registrations=PendingRegistrations(core.database, core.clock),
        verification=verification,
        assertions=proofs.assertions,
        factors=factors,
        totp=Totp(core=core, codes=proofs.codes, factors=factors, sudo=sudo, verification=verification),
        passkeys=Passkeys(core=core, challenges=proofs.challenges, party=proofs.party, sudo=sudo),
        sudo=sudo,
        new_passwords=passwords,
        address_wishes=AddressWishes(
            core=core, mailer=mailer, changes=changes, addresses=addresses, verification=verification
        ),
        password_recovery=PasswordRecovery(core=core, mailer=mailer, authentication=entry, new_passwords=passwords),
        password_changes=PasswordChanges(
            core=core,
            mailer=mailer,
            codes=mailed,
            factors=factors,
            sudo=sudo,
            authentication=entry,
            new_passwords=passwords,
        ),
        email_changes=changes,
        email_reverts=EmailReverts(core=core, authentication=entry, new_passwords=passwords),
        recovery_kits=RecoveryKits(core=core, codes=typed, sudo=sudo, authentication=entry, new_passwords=passwords),
    )


def _proofs(core: Core, guesses: Guesses, sign_ins: SignIns) -> _Proofs:
    codes = MfaCodes(core.clock, core.keys, BackupCodes(core.keys, core.chance))
    challenges, party = WebauthnChallenges(core=core), RelyingParty.of(core.settings)
    assertions = PasskeyAssertions(core=core, challenges=challenges, party=party)
    factors = SecondFactors(
        database=core.database, codes=codes, assertions=assertions, may_guess=guesses.may_guess_code
    )
    sudo = SudoMode(
        passwords=core.passwords,
        factors=factors,
        tokens=SudoTokens(core.keys, core.clock),
        sign_ins=sign_ins,
        wait_to_guess=guesses.wait_to_guess_password,
    )
    return _Proofs(codes=codes, challenges=challenges, party=party, assertions=assertions, factors=factors, sudo=sudo)


def _single_sign_on(
    core: Core, policy: PolicyArea, authentication: Authentication, sign_ins: SignIns, networks: IpAuthorization
) -> SingleSignOn:
    settings = core.settings
    # Connections of its own: a provider that hangs takes none from others.
    outgoing = OutgoingHttp(in_threads=core.in_threads)
    key = core.keys.of("single sign-on")
    connect = OpenIdConnect(settings.sso, settings.sso_redirect_uri, key, outgoing, core.clock)
    newcomers = SsoAccounts(core=core, usernames=policy.usernames, sign_ins=sign_ins, networks=networks)
    return SingleSignOn(
        core=core, connect=connect if settings.sso.is_on else None, authentication=authentication, newcomers=newcomers
    )


def _address_lookups(core: Core) -> AddressLookups:
    settings, path = core.settings, core.settings.geolocation_file
    # A relative path starts in the data directory, where chat.toml lies.
    geolocation = None if path is None else Geolocation(core.directory / path, in_threads=core.in_threads)
    if geolocation is not None:
        geolocation.look()
    reverse = ReverseDns(settings.reverse_dns.name_servers, in_threads=core.in_threads)
    return AddressLookups(
        reverse if settings.reverse_dns.enabled else None,
        geolocation,
    )


def _outbox(core: Core) -> Outbox | None:
    if core.settings.mail.mode != "smtp":
        return None
    from chat.mail.outbox import Outbox, Sender  # an instance that sends none starts without smtplib and its like

    sender, bounces = Sender.of(core.settings), MailBounces(events=core.account_events)
    return Outbox(core.database, core.clock, core.chance, core.keys, sender, bounces, in_threads=core.in_threads)
