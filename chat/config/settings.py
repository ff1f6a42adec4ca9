"""The settings of an instance, by section."""

from __future__ import annotations

import functools
import ipaddress
import re
from typing import Final, Literal
from urllib.parse import urlsplit

import attrs

from chat.classes import frozen
from chat.config import broker_address
from chat.config.declare import setting
from chat.config.keeping import ArchiveSettings, RetentionSettings, StorageSettings
from chat.config.limits import Limits
from chat.config.programs import CompatSettings, ImportSettings, InteractionSettings, is_network, parsed_by
from chat.registries import limits as documented

DNS_PORT: Final = 53

HOST_CHARACTERS: Final = 253
_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?", re.ASCII)
_VISIBLE: Final = re.compile(r"[!-~]+")
"""Whoever has a domain name with other letters writes it as `xn--...`."""

WILDCARD_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not listened on
"""Hosts that mean every address of the machine, and one under which the machine reaches itself."""


def address_and_port(text: str) -> tuple[str, int]:
    """The address and the port of `127.0.0.1:9090` or `[::1]:9090`. Raises ValueError for anything else."""
    parts = urlsplit(f"//{text}")
    if parts.netloc != text or parts.username is not None or parts.port is None:
        raise ValueError("expected an address and a port")
    return str(ipaddress.ip_address(parts.hostname or "")), parts.port


def host_and_port(name_server: str) -> tuple[str, int]:
    """A name server's address and port, out of `9.9.9.9`, `9.9.9.9:5300`, `2620:fe::fe` or `[2620:fe::fe]:5300`. Raises
    ValueError for anything else."""
    try:
        return str(ipaddress.ip_address(name_server)), DNS_PORT
    except ValueError:
        parts = urlsplit(f"//{name_server}")
        if parts.netloc != name_server or parts.username is not None:
            raise
        port = parts.port
        return str(ipaddress.ip_address(parts.hostname or "")), DNS_PORT if port is None else port


_is_ip_address = parsed_by(ipaddress.ip_address)
_is_name_server = parsed_by(host_and_port)
_is_address_with_port = parsed_by(address_and_port)
_is_broker = parsed_by(broker_address.broker_address)


def _is_colour(text: str) -> bool:
    return re.fullmatch(r"#[0-9a-fA-F]{6}", text, re.ASCII) is not None


def _is_text(text: str) -> bool:
    return text.strip() != ""


def _is_host(text: str) -> bool:
    return len(text) <= HOST_CHARACTERS and (_is_ip_address(text) or _HOST_NAME.fullmatch(text) is not None)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        is_whole = _VISIBLE.fullmatch(text) is not None and parts.scheme in {"http", "https"} and parts.port != 0
        return is_whole and _is_host(parts.hostname or "")
    except ValueError:
        return False


def _is_origin(text: str) -> bool:
    return _is_url(text) and text == f"{urlsplit(text).scheme}://{urlsplit(text).netloc}" and "@" not in text


def _is_contact(text: str) -> bool:
    return _is_address(text.removeprefix("mailto:")) if text.startswith("mailto:") else text.startswith("https://")


def _is_address(text: str) -> bool:
    local, _, domain = text.rpartition("@")
    return bool(local) and bool(domain) and not any(character.isspace() for character in text)


def is_loopback(host: str) -> bool:
    """Whether a server that listens on this host is reached from its own machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def origin_of(host: str, port: int, *, tls: bool = False) -> str:
    """The origin under which a server that listens on `host` and `port` is reached from its own machine."""
    reachable, scheme = WILDCARD_HOSTS.get(host, host), "https" if tls else "http"
    return f"{scheme}://[{reachable}]:{port}" if ":" in reachable else f"{scheme}://{reachable}:{port}"


@frozen(kw_only=True)
class GatewaySettings:
    """The documents' numbers of the gateway, for tests that want lower ones."""

    heartbeat_interval_ms: int = setting(
        documented.HEARTBEAT_INTERVAL_MS, "how often clients send a heartbeat, as Hello says it",
        unit="milliseconds", minimum=100,
    )  # fmt: skip
    identify_budget: int = setting(
        documented.IDENTIFY_BUDGET, "Identifies that an address may send in 60 seconds", minimum=1
    )
    connections_per_address: int = setting(
        documented.CONNECTIONS_PER_ADDRESS, "gateway connections of an address, and as many others", minimum=1
    )
    sessions_per_user: int = setting(documented.SESSIONS_PER_USER, "live sessions of an account, bots aside", minimum=1)
    bot_shard_guild_ceiling: int = setting(
        documented.BOT_SHARD_GUILD_CEILING, "guilds that one shard of a bot may own", minimum=0
    )
    address_header_for_tests: bool = setting(
        False, "believe X-Test-Address on requests from loopback: it stands for the client's address"
    )


@frozen(kw_only=True)
class MailSettings:
    mode: Literal["off", "keep", "smtp"] = setting("off", "send none, keep it for /v1/_dev/mail, or send it by SMTP")
    host: str | None = setting(None, "the SMTP server", accepts=_is_host, form="a host name")
    port: int = setting(587, "its port", minimum=1, maximum=65_535)
    username: str | None = setting(None, "the account at the SMTP server")
    password: str | None = setting(None, "its password", secret=True)
    from_: str | None = setting(None, "the sender of every mail", accepts=_is_address, form="a mail address")
    tls: Literal["starttls", "implicit", "off"] = setting("starttls", "how the connection to the server is protected")


@frozen(kw_only=True)
class SsoSettings:
    enabled: bool = setting(False, "offer single sign-on")
    enforced: bool = setting(False, "refuse every other way to sign in")
    issuer: str | None = setting(None, "the provider's issuer", accepts=_is_url, form="an http or https address")
    client_id: str | None = setting(None, "this instance's client id at the provider")
    client_secret: str | None = setting(None, "its secret", secret=True)
    display_name: str | None = setting(None, "the provider's name on the sign-in page")
    auto_provision: bool = setting(False, "make an account at a person's first sign-in")
    trust_email: bool = setting(
        False, "take addresses for verified where the provider does not say whether they are (Entra ID)"
    )

    @property
    def is_on(self) -> bool:
        """Whether single sign-on is offered: enabled and configured."""
        return self.enabled and self.issuer is not None and self.client_id is not None

    @property
    def is_enforced(self) -> bool:
        """Whether other ways to sign in are refused (access.md, Single sign-on enforcement)."""
        return self.is_on and self.enforced


@frozen(kw_only=True)
class CaptchaSettings:
    """A challenge before registration, login and password recovery."""

    provider: Literal["none", "hcaptcha", "turnstile"] = setting("none", "who sets the challenges")
    site_key: str | None = setting(None, "this instance's public key there")
    secret_key: str | None = setting(None, "its secret", secret=True)
    verify_url: str | None = setting(
        None, "where solutions are checked, if not at the provider", accepts=_is_url, form="an http or https address"
    )


@frozen(kw_only=True)
class IpBanSettings:
    """Addresses with repeated authentication failures are banned for a while."""

    failures: int = setting(documented.AUTHENTICATION_FAILURES, "failures that ban an address", minimum=1)
    window_seconds: int = setting(
        documented.AUTHENTICATION_FAILURES_WINDOW_MS // 1_000, "within which they count", unit="seconds", minimum=1
    )
    duration_seconds: int = setting(
        documented.ADDRESS_BAN_MS // 1_000, "how long the address is banned", unit="seconds", minimum=1
    )
    exempt: tuple[str, ...] = setting(
        ("127.0.0.0/8", "::1"), "networks that are never banned", accepts=is_network, form="networks"
    )


@frozen(kw_only=True)
class ReverseDnsSettings:
    """Names of addresses, for administrators who may see addresses."""

    enabled: bool = setting(True, "ask DNS for the names of addresses that administrators look at")
    name_servers: tuple[str, ...] = setting(
        (), "servers to ask instead of the system's, as 9.9.9.9 or [2620:fe::fe]:53", accepts=_is_name_server,
        form="addresses, each with a port if it is not 53",
    )  # fmt: skip


@frozen(kw_only=True)
class ContentPolicySettings:
    blocked_phrases: tuple[str, ...] = setting((), "text that is refused with CONTENT_BLOCKED")


@frozen(kw_only=True)
class DiscoverySettings:
    enabled: bool = setting(True, "guilds may apply to be found by anybody")
    minimum_members: int = setting(10, "members that a guild needs to apply", minimum=1)


@frozen(kw_only=True)
class VoiceSettings:
    regions: tuple[str, ...] = setting((), "regions that a voice channel may ask for")
    vip_regions: tuple[str, ...] = setting((), "regions for guilds with VIP_VOICE alone")
    engine: Literal["off", "embedded"] = setting(
        "off", "what carries sound and pictures: nothing, or the media server that is part of this program"
    )
    udp_port: int = setting(7882, "port for all media, over UDP; 0 picks a free one", minimum=0, maximum=65_535)
    public_address: str | None = setting(
        None, "address of udp_port; null for that of public_url's host", accepts=_is_ip_address, form="an address"
    )


@frozen(kw_only=True)
class WebauthnSettings:
    rp_id: str | None = setting(
        None, "the relying party", accepts=_is_host, form="a host name",
        derived="host of public_url, localhost for a loopback address",
    )  # fmt: skip


@frozen(kw_only=True)
class MediaSettings:
    """Uploaded files; pictures, films, sounds and pages that lie elsewhere."""

    private_networks_allowed: tuple[str, ...] = setting(
        (), "networks that media may be fetched from although they are not public", accepts=is_network, form="networks"
    )
    storage_bytes: int | None = setting(
        None, "uploaded files of all accounts together; null for as much as the disk holds", unit="bytes", minimum=0
    )
    rendition_cache_bytes: int = setting(
        1_073_741_824, "resized and converted pictures that are kept, as they can be made again",
        unit="bytes", minimum=0,
    )  # fmt: skip
    metadata: Literal["remove", "keep"] = setting(
        "remove", "what pictures and films tell of their makers, as where they were taken: it goes when they arrive"
    )
    link_embeds: bool = setting(True, "show what a link in a message leads to; fetched by the server")


@frozen(kw_only=True)
class BackupSettings:
    """Backups that the server makes by itself, into a directory of their own."""

    directory: str | None = setting(
        None, "where the server backs itself up, best on another disk; relative to the data directory",
        accepts=_is_text, form="a path",
    )  # fmt: skip
    every: int = setting(24, "from one backup to the next", unit="hours", minimum=1, maximum=8_760)
    keep: int = setting(14, "backups that are kept; older ones go once a new one is whole", minimum=1)
    spare_bytes: int = setting(
        1_073_741_824, "room on their disk that backups leave free; one that would take more is not made",
        unit="bytes", minimum=0,
    )  # fmt: skip
    before_migration: bool = setting(True, "back up before a new version migrates the database; false: migrate without")


@frozen(kw_only=True)
class PushSettings:
    """Notifications on devices, by way of the push services of their browsers."""

    enabled: bool = setting(True, "let browsers subscribe, and tell them of messages")
    contact: str | None = setting(
        None, "whom operators of push services may turn to", accepts=_is_contact,
        form="a mailto: or https: address", derived="mail.from, else public_url",
    )  # fmt: skip
    private_networks_allowed: tuple[str, ...] = setting(
        (), "networks of push services that are not public; asked without TLS too", accepts=is_network, form="networks"
    )


@frozen(kw_only=True)
class GifSettings:
    """Moving pictures of a service that searches for them. The server asks it, so it does not see members."""

    provider: Literal["none", "klipy", "giphy"] = setting("none", "the service")
    api_key: str | None = setting(None, "this instance's key there", secret=True)
    rating: Literal["g", "pg", "pg-13", "r"] = setting("g", "the least mild that is found: g is for everybody")
    api_url: str | None = setting(None, "where it is asked instead", accepts=_is_url, form="an http or https address")


@frozen(kw_only=True)
class BillingSettings:
    """Purchases; only where self_hosted is false."""

    store_url: str | None = setting(None, "the store service", accepts=_is_url, form="an http or https address")
    store_token: str | None = setting(None, "what the store service knows this instance by", secret=True)


@frozen(kw_only=True)
class Settings:
    host: str = setting("127.0.0.1", "the address to listen on", accepts=_is_host, form="a host name or address")
    port: int = setting(8080, "the port to listen on; 0 picks a free one", minimum=0, maximum=65_535)
    tls_certificate: str | None = setting(
        None, "a certificate in PEM, with its chain, to speak TLS without a proxy; relative to the data directory",
        accepts=_is_text, form="a path",
    )  # fmt: skip
    tls_key: str | None = setting(
        None, "its key in PEM; both are read again when they change", accepts=_is_text, form="a path"
    )
    public_url: str = setting(
        attrs.Factory(lambda settings: settings.own_origin, takes_self=True),
        "origin of every address that the server hands out",
        accepts=_is_origin, form="an origin such as https://chat.example", derived="from host and port",
    )  # fmt: skip
    trusted_proxies: tuple[str, ...] = setting(
        (), "networks whose forwarded-address header is believed", accepts=is_network, form="networks"
    )
    hsts_max_age: int = setting(
        31_536_000, "how long browsers ask by https alone, where the server speaks TLS on the host's own port; 0: no",
        unit="seconds", minimum=0,
    )  # fmt: skip
    dev_allow: tuple[str, ...] = setting(
        (), "networks that reach the development routes of `chat dev`, beside this machine",
        accepts=is_network, form="networks",
    )  # fmt: skip
    log_level: Literal["debug", "info", "warning", "error"] = setting("info", "the least level that is logged")
    access_log: Literal["on", "off"] = setting("off", "log a line for each request, at the level info")
    slow_request_ms: int = setting(
        1_000, "log a request whose answer begins later than this, with its operation; 0 logs none",
        unit="milliseconds", minimum=0,
    )  # fmt: skip
    slow_statement_ms: int = setting(
        250, "log work of the store that takes longer than this, with the operation that it is for; 0 logs none",
        unit="milliseconds", minimum=0,
    )  # fmt: skip
    metrics: Literal["on", "off"] = setting("off", "serve /metrics, to loopback alone; a proxy must not hand it out")
    metrics_listen: str | None = setting(
        None, "an address of its own for /metrics, for all who reach it; not on the main port then",
        accepts=_is_address_with_port, form="an address and a port such as 127.0.0.1:9090",
    )  # fmt: skip
    nodes: str | None = setting(
        None, "the broker (Redis or Valkey) over which gateway nodes join this instance; none: it serves by itself",
        secret=True, accepts=_is_broker, form=broker_address.FORM,
    )  # fmt: skip

    service_name: str = setting(
        "Chat", "shown to people; reserved in usernames and custom invite codes", accepts=_is_text, form="a text"
    )
    service_description: str | None = setting(
        None, "what the front page says of the instance", accepts=_is_text, form="a text", lines=True
    )
    accent_colour: str | None = setting(
        None, "a colour of the instance's own for buttons and links; refused where white cannot be read on it",
        accepts=_is_colour, form="a colour such as #0b6e4f",
    )  # fmt: skip
    logo_file: str | None = setting(
        None, "a picture in place of the sign on pages and tabs (PNG, SVG, WebP); relative to the data directory",
        accepts=_is_text, form="a path",
    )  # fmt: skip
    welcome_invite: str | None = setting(
        None, "the code of an invite that the front page shows to everybody", accepts=_is_text, form="an invite code"
    )
    reserved_invite_words: tuple[str, ...] = setting(
        attrs.Factory(lambda settings: (settings.service_name,), takes_self=True),
        "words that a custom invite code may not contain",
        derived="the service_name",
    )
    sign_in: Literal["email", "username"] = setting("email", "what people sign in with")
    tag_style: Literal["discriminator", "none"] = setting("discriminator", "whether equal usernames are told apart")
    registration: Literal["open", "approval", "closed"] = setting("open", "who may make an account")
    email_verification_required: bool = setting(
        True, "false: addresses count as verified at registration, as they do without mail"
    )
    ip_authorization: bool = setting(False, "signing in from a new address needs the link in a mail")
    self_hosted: bool = setting(True, "store purchases and payment processor exist only when false")
    premium_mode: Literal["everyone", "none"] = setting(
        "everyone", "who has the limits of premium: everyone, or none but those who have premium"
    )
    single_community_enabled: bool = setting(False, "the instance is one guild that everyone is in")
    single_community_guild_id: int | None = setting(None, "that guild's snowflake", minimum=0, maximum=2**63 - 1)
    direct_messages_disabled: bool = setting(False, "nobody opens private conversations")
    rate_limits: bool = setting(True, "every bucket and the global limit")
    search: Literal["on", "off"] = setting("on", "off: indexed search answers FEATURE_TEMPORARILY_DISABLED")
    client_packs: bool = setting(
        True, "send the web client's modules joined by area; false: each by itself, as they lie on the disk"
    )
    webapp_directory: str | None = setting(
        None, "a built web application to serve in place of the web client; relative to the data directory",
        accepts=_is_text, form="a path",
    )  # fmt: skip
    geolocation_file: str | None = setting(
        None, "a MaxMind database that tells where addresses are; relative to the data directory",
        accepts=_is_text, form="a path",
    )  # fmt: skip

    limits: Limits = attrs.field(factory=Limits)
    reverse_dns: ReverseDnsSettings = attrs.field(factory=ReverseDnsSettings)
    content_policy: ContentPolicySettings = attrs.field(factory=ContentPolicySettings)
    discovery: DiscoverySettings = attrs.field(factory=DiscoverySettings)
    voice: VoiceSettings = attrs.field(factory=VoiceSettings)
    mail: MailSettings = attrs.field(factory=MailSettings)
    sso: SsoSettings = attrs.field(factory=SsoSettings)
    captcha: CaptchaSettings = attrs.field(factory=CaptchaSettings)
    gif: GifSettings = attrs.field(factory=GifSettings)
    webauthn: WebauthnSettings = attrs.field(factory=WebauthnSettings)
    ip_ban: IpBanSettings = attrs.field(factory=IpBanSettings)
    gateway: GatewaySettings = attrs.field(factory=GatewaySettings)
    media: MediaSettings = attrs.field(factory=MediaSettings)
    retention: RetentionSettings = attrs.field(factory=RetentionSettings)
    archives: ArchiveSettings = attrs.field(factory=ArchiveSettings)
    backup: BackupSettings = attrs.field(factory=BackupSettings)
    storage: StorageSettings = attrs.field(factory=StorageSettings)
    push: PushSettings = attrs.field(factory=PushSettings)
    imports: ImportSettings = attrs.field(factory=ImportSettings)
    interactions: InteractionSettings = attrs.field(factory=InteractionSettings)
    billing: BillingSettings = attrs.field(factory=BillingSettings)
    compat: CompatSettings = attrs.field(factory=CompatSettings)

    def limits_for(self, *, premium: bool) -> Limits:
        """The limits of an account; `premium` is whether it has premium of its own. Under their plain names."""
        return self._premium_limits if premium or self.premium_mode == "everyone" else self.limits

    @functools.cached_property
    def _premium_limits(self) -> Limits:
        suffix = "_premium"
        twins = [field.name for field in attrs.fields(Limits) if field.name.endswith(suffix)]
        return attrs.evolve(self.limits, **{name.removesuffix(suffix): getattr(self.limits, name) for name in twins})

    @property
    def has_tls(self) -> bool:
        """Whether the server itself speaks TLS."""
        return self.tls_certificate is not None

    @property
    def asks_for_https(self) -> bool:
        """Whether browsers are told to ask this host by https alone (RFC 6797): it holds for every port of the host, so
        only where this server is what people find at the host's own."""
        public = urlsplit(self.public_url)
        is_whole_host = public.scheme == "https" and public.port in (None, 443)
        return self.has_tls and self.hsts_max_age > 0 and is_whole_host

    @property
    def own_origin(self) -> str:
        """Where the server is reached from its own machine."""
        return origin_of(self.host, self.port, tls=self.has_tls)

    @property
    def relying_party_id(self) -> str:
        """The WebAuthn relying party (signing_in.md, Passkeys): as set, else from public_url."""
        if self.webauthn.rp_id is not None:
            return self.webauthn.rp_id
        host = urlsplit(self.public_url).hostname or ""
        try:
            return "localhost" if ipaddress.ip_address(host).is_loopback else host
        except ValueError:
            return host

    @property
    def sso_redirect_uri(self) -> str:
        """Where the OpenID Connect provider sends people back to; to be registered there."""
        return f"{self.public_url}/auth/sso/callback"

    @property
    def push_contact(self) -> str:
        """The `sub` of the tokens for push services (RFC 8292, 2.1), which some of them insist on."""
        if self.push.contact is not None:
            return self.push.contact
        if self.mail.from_ is not None:
            return f"mailto:{self.mail.from_}"
        if self.public_url.startswith("https:"):
            return self.public_url
        return f"mailto:postmaster@{urlsplit(self.public_url).hostname}"

    def listening_on(self, port: int) -> Settings:
        """These settings once the port is known (`port` 0 picks one); public_url follows unless it was set."""
        derived = self.public_url == self.own_origin
        own = origin_of(self.host, port, tls=self.has_tls)
        return attrs.evolve(self, port=port, public_url=own if derived else self.public_url)
