"""How people prove who they are, change what they prove it with, and get back in: those services, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from chat.api import buckets
from chat.api.rate_limit import RateLimiter
from chat.auth.openid_connect import OpenIdConnect
from chat.auth.outgoing_http import OutgoingHttp
from chat.auth.sudo_token import SudoTokens
from chat.auth.typed_codes import TypedCodes
from chat.auth.webauthn_options import RelyingParty
from chat.domain.policy.profiles import ProfileRules
from chat.domain.policy.usernames import Usernames
from chat.domain.signing_in.address_wishes import AddressWishes
from chat.domain.signing_in.authentication import Authentication
from chat.domain.signing_in.backup_codes import BackupCodes
from chat.domain.signing_in.email_addresses import EmailAddresses
from chat.domain.signing_in.email_change import EmailChanges
from chat.domain.signing_in.email_replacement import EmailReplacements
from chat.domain.signing_in.email_revert import EmailReverts
from chat.domain.signing_in.email_verification import EmailVerification
from chat.domain.signing_in.ip_authorization import IpAuthorization
from chat.domain.signing_in.login_completion import LoginCompletion
from chat.domain.signing_in.login_tickets import LoginTickets
from chat.domain.signing_in.mailed_codes import MailedCodes
from chat.domain.signing_in.mfa_codes import MfaCodes
from chat.domain.signing_in.new_passwords import NewPasswords
from chat.domain.signing_in.passkey_assertions import PasskeyAssertions
from chat.domain.signing_in.passkey_bridge import PasskeyBridge
from chat.domain.signing_in.passkeys import Passkeys
from chat.domain.signing_in.password_change import PasswordChanges
from chat.domain.signing_in.password_recovery import PasswordRecovery
from chat.domain.signing_in.recovery_kit import RecoveryKits
from chat.domain.signing_in.second_factors import SecondFactors
from chat.domain.signing_in.sign_ins import SignIns
from chat.domain.signing_in.single_sign_on import SingleSignOn
from chat.domain.signing_in.sso_accounts import SsoAccounts
from chat.domain.signing_in.sudo import SudoMode
from chat.domain.signing_in.totp import Totp
from chat.domain.signing_in.webauthn_challenges import WebauthnChallenges
from chat.foundations import Foundations
from chat.mail.mailer import Mailer

if TYPE_CHECKING:
    pass


@attrs.frozen(kw_only=True)
class Credentials:
    """The services by which people prove who they are."""

    usernames: Usernames
    rules: ProfileRules
    sign_ins: SignIns
    ip_authorization: IpAuthorization
    authentication: Authentication
    login_completion: LoginCompletion
    passkey_bridge: PasskeyBridge
    mailer: Mailer
    verification: EmailVerification
    factors: SecondFactors
    totp: Totp
    passkeys: Passkeys
    sudo: SudoMode


@attrs.frozen(kw_only=True)
class Recovery:
    """The services by which people change what they prove themselves with, and get back in."""

    new_passwords: NewPasswords
    address_wishes: AddressWishes
    password_recovery: PasswordRecovery
    password_changes: PasswordChanges
    email_changes: EmailChanges
    email_replacements: EmailReplacements
    email_reverts: EmailReverts
    recovery_kits: RecoveryKits


def build_credentials(base: Foundations, rate_limiter: RateLimiter) -> Credentials:
    """The services by which people prove who they are."""
    settings, database, clock = base.settings, base.database, base.clock
    mailer = Mailer(settings.mail.mode, clock, base.outbox)
    backup_codes = BackupCodes(base.keys, base.chance)
    codes = MfaCodes(clock, base.keys, backup_codes)
    challenges = WebauthnChallenges(database, clock, base.mint)
    party = RelyingParty.of(settings)
    factors = SecondFactors(
        database,
        codes,
        PasskeyAssertions(database, clock, challenges, party),
        lambda user_id: not rate_limiter.take(buckets.SUDO_CODES, user_id),
    )
    sign_ins = SignIns(database, clock, base.mint, base.account_events, base.address_lookups, base.user_agents)
    sudo = SudoMode(
        base.passwords,
        factors,
        SudoTokens(base.keys, clock),
        lambda user_id: rate_limiter.take(buckets.SUDO_PASSWORDS, user_id),
        sign_ins.is_freshly_proved,
    )
    verification = EmailVerification(database, clock, mailer, base.mint, base.account_events, settings)
    tickets = LoginTickets(database, clock, base.mint, sign_ins)
    ip_authorization = IpAuthorization(database, clock, base.mint, base.keys, mailer, sign_ins, settings)
    authentication = Authentication(database, base.passwords, sign_ins, tickets, ip_authorization, settings)
    return Credentials(
        usernames=Usernames(settings, base.chance),
        rules=ProfileRules(clock, settings, base.blocked),
        sign_ins=sign_ins,
        ip_authorization=ip_authorization,
        authentication=authentication,
        login_completion=LoginCompletion(authentication, tickets, factors, codes),
        passkey_bridge=PasskeyBridge(database, clock, base.mint, authentication, sign_ins, factors),
        mailer=mailer,
        verification=verification,
        factors=factors,
        totp=Totp(
            database,
            clock,
            base.keys,
            backup_codes,
            codes,
            factors,
            sudo,
            base.account_events,
            lambda: verification.is_needed,
        ),
        passkeys=Passkeys(database, clock, challenges, party, sudo, base.bus, base.account_events),
        sudo=sudo,
    )


def build_single_sign_on(base: Foundations, credentials: Credentials) -> SingleSignOn:
    """Signing in at a provider of identities."""
    settings, database, clock = base.settings, base.database, base.clock
    # Connections of its own: a provider that hangs takes none from anybody else.
    outgoing = OutgoingHttp(in_threads=base.in_threads)
    key = base.keys.of("single sign-on")
    connect = OpenIdConnect(settings.sso, settings.sso_redirect_uri, key, outgoing, clock)
    newcomers = SsoAccounts(
        database,
        clock,
        base.snowflakes,
        credentials.usernames,
        credentials.sign_ins,
        credentials.ip_authorization,
        settings,
        base.blocked,
    )
    return SingleSignOn(
        database,
        clock,
        base.mint,
        connect if settings.sso.is_on else None,
        credentials.authentication,
        newcomers,
        base.account_events,
        settings,
    )


def build_recovery(base: Foundations, credentials: Credentials) -> Recovery:
    """The services by which people get back in."""
    settings, database, clock = base.settings, base.database, base.clock
    mailer, sudo, authentication = credentials.mailer, credentials.sudo, credentials.authentication
    typed = TypedCodes(base.keys, base.chance)
    codes = MailedCodes(clock, base.mint, typed)
    new_passwords = NewPasswords(clock, base.passwords, base.account_events)
    addresses = EmailAddresses(clock, mailer, base.mint, settings, base.blocked)
    email_changes = EmailChanges(
        database, clock, mailer, base.mint, codes, addresses, sudo, base.account_events, settings
    )
    return Recovery(
        new_passwords=new_passwords,
        address_wishes=AddressWishes(
            database, mailer, base.mint, email_changes, addresses, credentials.verification, settings
        ),
        password_recovery=PasswordRecovery(database, clock, mailer, base.mint, authentication, new_passwords, settings),
        password_changes=PasswordChanges(
            database, mailer, codes, credentials.factors, sudo, authentication, new_passwords, settings
        ),
        email_changes=email_changes,
        email_replacements=EmailReplacements(database, codes, addresses, sudo, base.account_events),
        email_reverts=EmailReverts(database, clock, authentication, new_passwords, base.blocked),
        recovery_kits=RecoveryKits(database, clock, typed, sudo, authentication, new_passwords),
    )
