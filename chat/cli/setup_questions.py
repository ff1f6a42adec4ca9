"""The questions of `chat setup`, in a terminal. Each is asked again until its answer can be used; nothing is written
here. Ctrl-C and the end of the input end the questions (click.Abort)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs
import click

from chat.classes import define, frozen
from chat.config.declare import UnexpectedValueError
from chat.config.loading import SETTINGS, Loaded
from chat.config.settings import Settings, is_loopback
from chat.domain.administration.command_line import NewAccount
from chat.domain.guilds.guilds import normalised_name
from chat.domain.policy import account_rules
from chat.errors import InvalidFormBody

T = TypeVar("T")

HERE: Final = "here"
"""The answer for an instance that only its own machine reaches."""

NOTHING: Final = "-"
"""The answer that takes a text away."""

LOOPBACK: Final = ("127.0.0.0/8", "::1/128")
ANYWHERE: Final = "0.0.0.0"  # noqa: S104 - listened on where the operator says so

STEPS: Final = 6
HTTPS_PORT: Final = 443

FRONTS: Final[Mapping[str, str]] = {
    "proxy": "a proxy on this machine (Caddy, nginx) has the certificate and hands requests on",
    "elsewhere": "the same, with the proxy on another machine",
    "itself": "nothing: the server has a certificate and a key of its own, in PEM",
    "none": "nothing: plain HTTP, for a network at home that you trust",
}
"""What stands between people and the server."""


@frozen
class Present:
    """An instance as it is before the questions."""

    loaded: Loaded
    file: Path
    text: str
    """What the settings file says; empty where there is none."""
    chosen: Mapping[str, object]
    """What was chosen at run time, and counts more than the file."""
    is_set_up: bool
    has_guild: bool

    def decided_elsewhere(self, name: str) -> str | None:
        """What counts more than the settings file for this setting, in words."""
        if name in self.chosen:
            return "was chosen in the console, which counts more than the file"
        origin = self.loaded.origins[name]
        return f"comes from {origin}, which counts more than the file" if origin.startswith("environment") else None

    def value_of(self, name: str) -> Any:
        """The value in force."""
        return self.chosen.get(name, SETTINGS[name].of(self.loaded.settings))


@define(kw_only=True)
class SetupWish:
    """What is to be. Settings by their dotted names; None takes one out of the file."""

    settings: dict[str, object] = attrs.field(factory=dict)
    administrator: NewAccount | None = None
    guild: str | None = None


def ask_everything(present: Present) -> SetupWish:
    """Every question. Raises click.Abort."""
    interview = _Interview(present)
    interview.ask_address()
    interview.ask_front()
    interview.ask_mail()
    interview.ask_registration()
    interview.ask_administrator()
    interview.ask_guild()
    return interview.wish


def setting_value(name: str, value: object) -> Any:
    """The value, if the setting can have it. Raises click.BadParameter with what was expected."""
    try:
        return SETTINGS[name].from_native(value)
    except UnexpectedValueError as error:
        raise click.BadParameter(str(error).replace(", or nothing", "")) from None


def address_of(text: str) -> str | None:
    """The origin that a person means: `https://` is added to a bare name; None for this machine alone.

    Raises click.BadParameter.
    """
    word = text.strip().rstrip("/")
    if word.lower() in {HERE, "localhost"}:
        return None
    return str(setting_value("public_url", word if "://" in word else f"https://{word}"))


def networks_of(text: str) -> tuple[str, ...]:
    """Networks, with commas or spaces between them. Raises click.BadParameter."""
    found = tuple(text.replace(",", " ").split())
    if not found:
        raise click.BadParameter("expected an address such as 10.0.0.2, or a network such as 10.0.0.0/24")
    return tuple(setting_value("trusted_proxies", found))


def judged(judge: Callable[[str], T]) -> Callable[[str], T]:
    """A judge of the domain as one of questions: its refusal becomes a line."""

    def ask(text: str) -> T:
        try:
            return judge(text)
        except InvalidFormBody as error:
            raise click.BadParameter(" ".join(str(wrong.as_member()["message"]) for wrong in error.errors)) from None

    return ask


@define
class _Interview:
    _present: Present
    wish: SetupWish = attrs.field(factory=SetupWish)
    _step: int = 0

    @property
    def _settings(self) -> Settings:
        return self._present.loaded.settings

    def _heading(self, title: str, *lines: str) -> None:
        self._step += 1
        click.echo()
        click.secho(f"{self._step} of {STEPS}  {title}", bold=True)
        for line in lines:
            click.echo(f"  {line}")

    def _prompt(
        self, question: str, judge: Callable[[str], T], default: str | None = None, *, hidden: bool = False
    ) -> T:
        answer: T = click.prompt(
            f"  {question}",
            default=default,
            value_proc=judge,
            hide_input=hidden,
            show_default=bool(default),
            prompt_suffix=": ",
        )
        return answer

    def _choice(self, question: str, choices: Sequence[str], default: str) -> str:
        def judge(text: str) -> str:
            word = text.strip().lower()
            fitting = [choice for choice in choices if choice.startswith(word)] if word else []
            if word in choices:
                return word
            if len(fitting) == 1:
                return fitting[0]
            raise click.BadParameter(f"expected {', '.join(choices[:-1])} or {choices[-1]}")

        return self._prompt(question, judge, default)

    def _yes(self, question: str, *, default: bool) -> bool:
        return self._choice(question, ("yes", "no"), "yes" if default else "no") == "yes"

    def _is_decided(self, name: str) -> bool:
        """Whether something else than the settings file decides about the setting; if so, tell the person what."""
        why = self._present.decided_elsewhere(name)
        if why is not None:
            click.echo(f"  {name} is {self._present.value_of(name)}: it {why}.")
        return why is not None

    def ask_address(self) -> None:
        self._heading(
            "Address",
            "Under which name do people reach this instance? For example chat.example.org.",
            f"{HERE!r} is for trying it out: only this machine reaches it.",
        )
        if self._is_decided("public_url"):
            return
        origin = self._present.loaded.origins["public_url"]
        present = HERE if origin == "default" else self._settings.public_url
        self.wish.settings["public_url"] = self._prompt("Address", address_of, present)

    def _public_url(self) -> str | None:
        return self.wish.settings.get("public_url", self._settings.public_url)  # type: ignore[return-value]

    def ask_front(self) -> None:
        self._heading("The way in")
        if self._public_url() is None:
            click.echo("  The server listens on this machine alone.")
            self.wish.settings["host"] = "127.0.0.1"
        else:
            click.echo("  What stands between people and the server, and has the certificate of the name?")
            for word, meaning in FRONTS.items():
                click.echo(f"    {word:10} {meaning}")
            self._ask_kind_of_front()
        port = self._settings.port
        if self.wish.settings.get("tls_certificate") is not None and not self._settings.has_tls:
            port = HTTPS_PORT
        self.wish.settings["port"] = self._prompt("Port that the server listens on", _port, str(port))

    def _ask_kind_of_front(self) -> None:
        settings, known = self.wish.settings, self._settings.trusted_proxies
        has_tls = str(self._public_url()).startswith("https:")
        present = "itself" if self._settings.has_tls else "proxy" if has_tls else "none"
        if not is_loopback(self._settings.host) and known:
            present = "elsewhere"
        front = self._choice("In front", list(FRONTS), present)
        if front != "itself" and self._settings.has_tls:
            settings["tls_certificate"] = settings["tls_key"] = None
        if front == "itself":
            settings["host"] = ANYWHERE
            for name, question in (("tls_certificate", "File with the certificate"), ("tls_key", "File with its key")):
                known_file = SETTINGS[name].of(self._settings)
                settings[name] = self._prompt(question, self._file_of(name), known_file)
            return
        if front == "none":
            settings["host"] = ANYWHERE
            if has_tls and self._yes("Then people reach it by http:, not https:. Write the address so", default=True):
                settings["public_url"] = str(self._public_url()).replace("https:", "http:", 1)
            return
        if front == "proxy":
            settings["host"] = "127.0.0.1"
            settings["trusted_proxies"] = (*known, *(network for network in LOOPBACK if network not in known))
            return
        settings["host"] = ANYWHERE
        others = ", ".join(network for network in known if network not in LOOPBACK)
        wanted = self._prompt("Address or network of the proxy", networks_of, others or None)
        settings["trusted_proxies"] = (*known, *(network for network in wanted if network not in known))

    def _file_of(self, name: str) -> Callable[[str], str]:
        """A judge of the path of a file that is there, absolute or below the data directory."""

        def judge(text: str) -> str:
            path = str(setting_value(name, text.strip()))
            if not (self._present.loaded.data_directory / path).is_file():
                raise click.BadParameter(f"there is no file {path}")
            return path

        return judge

    def ask_mail(self) -> None:
        self._heading(
            "Mail",
            "Mail confirms addresses and brings back forgotten passwords. It needs an SMTP server that lets you in.",
        )
        mail = self._settings.mail
        if self._is_decided("mail.mode"):
            return
        if not self._yes("Send mail", default=mail.mode == "smtp"):
            self.wish.settings["mail.mode"] = "off"
            return
        settings = self.wish.settings
        settings["mail.mode"] = "smtp"
        settings["mail.host"] = self._prompt("SMTP server", _text_of("mail.host"), mail.host)
        settings["mail.tls"] = self._choice("Protection", ("starttls", "implicit", "off"), mail.tls)
        usual = {"starttls": 587, "implicit": 465, "off": 25}
        is_changed = settings["mail.tls"] != mail.tls or mail.mode != "smtp"
        port = usual[str(settings["mail.tls"])] if is_changed else mail.port
        settings["mail.port"] = self._prompt("Port", _number_of("mail.port"), str(port))
        username = self._prompt(f"User name ({NOTHING} for none)", str.strip, mail.username or NOTHING)
        settings["mail.username"] = None if username in {"", NOTHING} else username
        if settings["mail.username"] is None:
            settings["mail.password"] = None
        else:
            kept = " (Enter keeps the one that is known)" if mail.password is not None else ""
            password = self._prompt(f"Password{kept}", str, "" if kept else None, hidden=True)
            if password:
                settings["mail.password"] = password
        settings["mail.from"] = self._prompt("Sender of the mails", _text_of("mail.from"), mail.from_)

    def ask_registration(self) -> None:
        self._heading(
            "Registration",
            "open: everybody makes an account. approval: you let each one in (`chat user approve`).",
            "closed: only people for whom you make one (`chat user create`).",
        )
        if not self._is_decided("registration"):
            present = str(self._present.value_of("registration"))
            self.wish.settings["registration"] = self._choice("Registration", ("open", "approval", "closed"), present)

    def ask_administrator(self) -> None:
        self._heading("First administrator")
        if self._present.is_set_up:
            click.echo("  There is one already: `chat user list` shows the ACLs of accounts.")
            return
        service_name = str(self._present.value_of("service_name"))
        username = self._prompt(
            f"Username ({NOTHING} for none now)",
            judged(lambda text: NOTHING if text.strip() in {"", NOTHING} else _username(text, service_name)),
            "admin" if "admin" not in service_name.lower() else NOTHING,
        )
        if username == NOTHING:
            click.echo("  The server prints a link for it when it starts.")
            return
        email = self._prompt("Mail address, to sign in with", judged(lambda text: account_rules.email(text)))
        password = self._asked_password(username, email)
        self.wish.administrator = NewAccount(username, email, password, ("*",))

    def _asked_password(self, username: str, email: str) -> str | None:
        """A password that was typed twice; None to have one made."""

        while True:
            password = self._prompt("Password of 8 characters at least (Enter makes one)", str, "", hidden=True)
            if not password:
                return None
            try:  # not in the question: click says nothing of what is wrong with an answer that it does not show
                judged(lambda text: account_rules.password(text, names=(username, email)))(password)
            except click.BadParameter as error:
                click.echo(f"Error: {error.message}")
                continue
            if self._prompt("Once more", str, "", hidden=True) == password:
                return password
            click.echo("Error: these were two different ones.")

    def ask_guild(self) -> None:
        self._heading("First community")
        if self._present.has_guild:
            click.echo("  There is one already: `chat guild list` shows them all.")
            return
        if self.wish.administrator is None and not self._present.is_set_up:
            click.echo("  It needs somebody who owns it: the first administrator makes it.")
            return
        name = self._prompt(f"Name ({NOTHING} for none now)", judged(_guild_name), NOTHING)
        self.wish.guild = None if name == NOTHING else name


def _username(text: str, service_name: str) -> str:
    return account_rules.username(text.strip(), service_name=service_name)


def _guild_name(text: str) -> str:
    return NOTHING if text.strip() in {"", NOTHING} else normalised_name(text)


def _number_of(name: str) -> Callable[[str], int]:
    def judge(text: str) -> int:
        word = text.strip()
        number = int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else word
        return int(setting_value(name, number))

    return judge


def _port(text: str) -> int:
    port = _number_of("port")(text)
    if port == 0:
        raise click.BadParameter("expected a port from 1 to 65535: people have to find it again")
    return port


def _text_of(name: str) -> Callable[[str], str]:
    return lambda text: str(setting_value(name, text.strip()))
