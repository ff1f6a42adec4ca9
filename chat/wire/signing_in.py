"""Signing in, second factors, changes of address and password (signing_in.md, Login)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired, TypedDict

from chat.wire.accounts import PartialUser
from chat.wire.values import GROUPED, Address, Count, Email, Nameless, Snowflake, Timestamp


class SignedIn(TypedDict):
    """A session token."""

    token: str
    """The session token, shown this once; it goes into the Authorization header as it is."""
    user_id: Snowflake
    """Id of the account that signed in."""
    user: PartialUser
    """The account that signed in."""


class MfaChallenge(TypedDict):
    """The second step that has to come before a session token."""

    mfa: Literal[True]
    """Whether a second step is needed."""
    ticket: str
    """Stands for the first step; the second one sends it back."""
    allowed_methods: list[Literal["totp", "webauthn"]]
    """Second factors with which the sign-in can be finished."""
    totp: bool
    """Whether an authenticator app can be used."""
    webauthn: bool
    """Whether a passkey can be used."""


class AwaitsApproval(TypedDict):
    registration_pending_approval: Literal[True]
    """True: an administrator has to let the account in."""
    user_id: Snowflake
    """Id of the account."""


SignIn = Annotated[SignedIn | MfaChallenge, GROUPED]


Registration = Annotated[SignedIn | MfaChallenge | AwaitsApproval, GROUPED]


class NotCompleted(Nameless):
    completed: Literal[False]
    """Whether it is done."""


class SignedInAfterWait(TypedDict):
    token: str
    """A secret that stands for an account, a bot or a permission; an answer shows it once."""
    user_id: Snowflake
    """Id of the account."""
    user: PartialUser
    """The account it is about."""
    completed: Literal[True]
    """Whether it is done."""


class AuthSessionClientInfoLocation(Nameless):
    city: str | None
    """The city of the network address, as the operator's database says; null where it does not."""
    region: str | None
    """The part of the country; null where it is not known."""
    country: str | None
    """The country of the network address; null where it is not known."""


class AuthSessionClientInfo(Nameless):
    platform: str | None
    """What kind of program signed in; null where it is not known."""
    os: str | None
    """The operating system that signed in; null where it is not known."""
    browser: str | None
    """The browser that signed in, as its user agent says; null where it is not known."""
    device: Literal["mobile", "desktop"]
    """The kind of device that signed in."""
    location: AuthSessionClientInfoLocation | None
    """Where the sign-in came from; null where that is not known."""


class AuthSession(TypedDict):
    id: str
    """Names the sign-in without being its token."""
    id_hash: str
    """Names the sign-in without being its token."""
    client_info: AuthSessionClientInfo | None
    """What is known of the program that signed in; null for nothing."""
    masked_ip: str | None
    """The network address without its last part; null where it is not known."""
    approx_last_used_at: Timestamp
    """When the sign-in was last used, to the hour."""
    current: bool
    """Whether it is the sign-in with which this request came."""


class PasskeyBridge(TypedDict):
    bridge_id: str
    """Names the passkey bridge between program and browser."""
    url: Address
    """The address it leads to."""
    expires_at: Timestamp
    """When it ends; null for never."""


class HandoffStarted(Nameless):
    code: str
    """A short text that stands for something: an invite, a one-time code, an error."""
    expires_at: Timestamp
    """When it ends; null for never."""


class HandoffInfo(TypedDict):
    client_os: str | None
    """The operating system of the program; null where it is not known."""
    client_platform: str | None
    """What kind of program it is; null where it is not known."""
    user_agent: str | None
    """The program in its own words (User-Agent); null where it said nothing."""
    masked_ip: str | None
    """The network address without its last part; null where it is not known."""
    expires_at: Timestamp
    """When it ends; null for never."""


class HandoffPending(Nameless):
    status: Literal["pending"]
    """How it stands at this moment."""


class SignedInByHandoff(TypedDict):
    token: str
    """A secret that stands for an account, a bot or a permission; an answer shows it once."""
    user_id: Snowflake
    """Id of the account."""
    user: PartialUser
    """The account it is about."""
    status: Literal["completed"]
    """How it stands at this moment."""


HandoffStatus = Annotated[HandoffPending | SignedInByHandoff, GROUPED]


class SingleSignOnStatus(TypedDict):
    enabled: bool
    """Whether it is switched on."""
    enforced: bool
    """Whether every other way to sign in is refused."""
    display_name: str | None
    """The name that people are shown."""
    redirect_uri: Address | None
    """Where consent or sign-in leads back to; it must be one that was registered."""


class SsoStart(Nameless):
    authorization_url: Address
    """Where the browser goes to sign in at the provider."""
    state: str
    """How it stands, or a text of the program's that comes back unchanged."""
    redirect_uri: Address
    """Where consent or sign-in leads back to; it must be one that was registered."""


class SignedInBySingleSignOn(TypedDict):
    token: str
    """A secret that stands for an account, a bot or a permission; an answer shows it once."""
    user_id: Snowflake
    """Id of the account."""
    user: PartialUser
    """The account it is about."""
    redirect_to: str | None
    """Where the browser goes next."""


class MfaChallengeBySingleSignOn(TypedDict):
    mfa: Literal[True]
    """Whether a second step is needed."""
    ticket: str
    """Stands for what was done so far in a conversation of several requests."""
    allowed_methods: list[Literal["totp", "webauthn"]]
    """Second factors with which the sign-in can be finished."""
    totp: bool
    """Whether an authenticator app can be used."""
    webauthn: bool
    """Whether a passkey can be used."""
    redirect_to: str | None
    """Where the browser goes next."""


SsoSignedIn = Annotated[SignedInBySingleSignOn | MfaChallengeBySingleSignOn, GROUPED]


class CredentialDescriptor(Nameless):
    id: str
    """Id of the object, as a decimal number in text."""
    type: Literal["public-key"]
    """Which kind of its sort it is, from a fixed list."""
    transports: NotRequired[list[str]]
    """How the authenticator is connected."""


CredentialDescriptors = list[CredentialDescriptor]


class WebauthnRequestOptions(TypedDict):
    """The options of navigator.credentials.get."""

    challenge: str
    """Random bytes in base64url that the authenticator signs."""
    timeout: Count
    """Milliseconds that the browser waits for the authenticator."""
    rpId: str
    """The host name that the passkey is for."""
    userVerification: Literal["required", "discouraged"]
    """Whether the authenticator must recognise the person."""
    allowCredentials: NotRequired[CredentialDescriptors]
    """The passkeys that may answer."""


class RelyingParty(Nameless):
    name: str
    """The name of the instance as the authenticator shows it."""
    id: str
    """The host name that the passkey belongs to."""


class PasskeyUser(Nameless):
    id: str
    """An id of the account in base64url that the authenticator keeps."""
    name: str
    """The name of the account as the authenticator shows it."""
    displayName: str
    """The account's name as the authenticator shows it."""


class PublicKeyParameters(Nameless):
    alg: int
    """A signature algorithm by its COSE number."""
    type: Literal["public-key"]
    """Which kind of its sort it is, from a fixed list."""


class WebauthnCreationOptions(TypedDict):
    """The options of navigator.credentials.create."""

    rp: RelyingParty
    """The site that the passkey is for."""
    user: PasskeyUser
    """The account it is about."""
    challenge: str
    """Random bytes in base64url that the authenticator signs."""
    pubKeyCredParams: list[PublicKeyParameters]
    """Signature algorithms that are taken, the best first."""
    timeout: Count
    """Milliseconds that the browser waits for the authenticator."""
    excludeCredentials: CredentialDescriptors
    """Passkeys that the account has already."""
    authenticatorSelection: Mapping[str, object]
    """What the authenticator must be able to do."""
    attestation: str
    """Which proof of the authenticator's make is wanted: none."""
    extensions: Mapping[str, object]
    """WebAuthn extensions that are asked for."""
    hints: list[str]
    """How clients may help the person choose an authenticator."""


class WebauthnCredential(TypedDict):
    id: str
    """The passkey's id in base64url."""
    name: str
    """What the holder calls the passkey."""
    created_at: Timestamp
    """When it was made."""
    last_used_at: Timestamp | None
    """When it was last used; null for never."""


class BackupCode(TypedDict):
    code: str
    """The text that is typed in place of the app's code; it works once."""
    consumed: bool
    """Whether the code was used already."""


class BackupCodes(Nameless):
    backup_codes: list[BackupCode]
    """One-time codes that stand for the authenticator app."""


class SudoMethods(Nameless):
    totp: bool
    """Whether an authenticator app can be used."""
    webauthn: bool
    """Whether a passkey can be used."""
    backup_codes: bool
    """One-time codes that stand for the authenticator app."""
    has_mfa: bool
    """Whether the account has a second factor."""


class EmailChange(TypedDict):
    ticket: str
    """Stands for what was done so far in a conversation of several requests."""
    require_original: bool
    """Whether the old address has to be proved first."""
    original_email: Email | None
    """The address that the account has until now; null for none."""
    original_proof: str | None
    """Stands for the proof that the old address is the caller's."""
    original_code_expires_at: Timestamp | None
    """When the code in the mail to the old address stops working; null where none was sent."""
    resend_available_at: Timestamp | None
    """When another mail may be asked for."""


class NewEmailAsked(TypedDict):
    ticket: str
    """Stands for what was done so far in a conversation of several requests."""
    new_email: Email
    """The mail address that is to come."""
    new_code_expires_at: Timestamp
    """When the code in the mail to the new address stops working."""
    resend_available_at: Timestamp
    """When another mail may be asked for."""


class PasswordChange(Nameless):
    ticket: str
    """Stands for what was done so far in a conversation of several requests."""
    code_expires_at: Timestamp
    """When the mailed code stops working."""
    resend_available_at: Timestamp
    """When another mail may be asked for."""


class SignedInAnew(TypedDict):
    token: str
    """A secret that stands for an account, a bot or a permission; an answer shows it once."""
    user_id: Snowflake
    """Id of the account."""
    user: PartialUser
    """The account it is about."""
    auth_session_id_hash: str
    """Names the new sign-in in the list of sessions without being its token."""


class CheckResetTokenAnswer(Nameless):
    valid: bool
    """Whether it still works."""


class MakeRecoveryKitAnswer(Nameless):
    code: str
    """A short text that stands for something: an invite, a one-time code, an error."""


class SuggestUsernamesAnswer(Nameless):
    suggestions: list[str]
    """Usernames that are free."""


class VerifyOriginalAnswer(Nameless):
    original_proof: str
    """Stands for the proof that the old address is the caller's."""


class VerifyNewAnswer(Nameless):
    email_token: str
    """Stands for the new address once both addresses are proved."""


class VerifyPasswordChangeAnswer(Nameless):
    verification_proof: str
    """Stands for the proof by the mailed code."""
