"""The pages of the manual that are made from the program's own declarations.

`python -m tests.docs.pages` writes them beside those of docs/reference; `test_made_pages.py` fails while one of them is
out of date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from chat.cli.main import root
from chat.config.declare import Setting
from chat.config.loading import DEVELOPMENT, SETTINGS
from chat.config.settings import Settings
from chat.registries import acls, permissions, scopes
from tests.docs import gateway_pages
from tests.docs.declared import documented, members, page, table

ROOT: Final = Path(__file__).parents[2]
MANUAL: Final = ROOT / "chat" / "manual"

GENERAL: Final = "General"
SECTION_TITLES: Final[Mapping[str, str]] = {
    GENERAL: "General",
    "limits": "Limits",
    "reverse_dns": "Names of addresses",
    "content_policy": "Content policy",
    "discovery": "Discovery",
    "voice": "Voice",
    "mail": "Mail",
    "sso": "Single sign-on",
    "captcha": "CAPTCHA",
    "webauthn": "Passkeys",
    "ip_ban": "Address bans",
    "gateway": "Gateway",
    "media": "Media",
    "archives": "Archives",
    "push": "Push notifications",
    "billing": "Purchases",
    "backup": "Backups",
    "compat": "Compatibility",
}
"""Of the sections that have more to say than their name; any other is called by it."""


def settings_page() -> str:
    """Every setting by its section."""
    sections: dict[str, list[Setting]] = {}
    for name, setting in SETTINGS.items():
        sections.setdefault(name.rpartition(".")[0] or GENERAL, []).append(setting)
    parts = [
        f"## {SECTION_TITLES.get(name, name.replace('_', ' ').capitalize())}\n\n"
        + table(("setting", "default", "takes", "meaning"), (_setting_row(setting) for setting in settings))
        for name, settings in sections.items()
    ]
    developed = ([f"`{name}`", f"`{shown(value)}`"] for name, value in DEVELOPMENT.items())
    return page(
        "Settings",
        "The server reads its settings from four places. A later place counts more than an earlier one:\n\n"
        "1. the built-in defaults below,\n"
        "2. the file `chat.toml` in the data directory, or the file that `--config` names,\n"
        "3. environment variables: `CHAT_` and the name in capitals, with two underscores for each dot, as in\n"
        "   `CHAT_MAIL__HOST`; a list is written in JSON,\n"
        "4. the flags of `chat serve`.\n\n"
        "`chat config show` prints every setting with its value and the place that it comes from. A setting that does "
        "not exist, or a value of the wrong kind, stops the start; the message names the setting, its place and what "
        "it takes. An administrator can change some policies and limits in the console while the server runs. Those "
        "count more than all four places.",
        *parts,
        "## Defaults of chat dev\n\n`chat dev` starts from other defaults. Settings of yours count more.\n\n"
        + table(("setting", "value"), developed),
    )


def commands_page() -> str:
    """Every command with its options."""
    context = click.Context(root, info_name="chat")
    sections = [
        _command_section(name, root.get_command(context, name), context) for name in root.list_commands(context)
    ]
    return page(
        "Commands",
        "Every command works on the data directory: `--data DIR`, else the variable `CHAT_DATA`, else `./chat-data`. "
        "It does not matter whether a server runs on that directory; a running server takes notice at once.\n\n"
        "On a terminal a command prints tables, in a pipe it prints JSON. It exits with 0 when it has done what you "
        "asked for, with 1 and one line on standard error when it has not, and with 2 when you called it wrongly.",
        *sections,
    )


def permissions_page() -> str:
    """Permissions of guilds, scopes of access tokens, rights of administrators."""
    sections = []
    for title, about, module, registry in RIGHTS:
        rows = members(registry, documented(module)[registry.__name__])
        sections.append(f"## {title}\n\n{about}\n\n{table(('value', 'name', 'meaning'), rows)}")
    return page("Permissions, scopes and rights", "Three kinds of names say what somebody may do.", *sections)


def values_page() -> str:
    """Every enumeration that travels on the wire and has no page of its own."""
    from tests.docs.pages import registries_page  # it writes these pages as well

    sections = re.split(r"^(?=## )", registries_page(), flags=re.MULTILINE)[1:]
    own = {registry.__name__ for *_, registry in RIGHTS}
    kept = [part.strip() for part in sections if part.splitlines()[0][3:] not in own]
    return page("Values", "Numbers and names that stand in members such as `type`, `flags` and `status`.", *kept)


def limits_page() -> str:
    """What bounds something and is no setting."""
    from tests.docs.pages import limits_page as whole  # it writes these pages as well

    sections = re.split(r"^(?=## )", whole(), flags=re.MULTILINE)[1:]
    kept = [part.strip() for part in sections if not part.startswith("## Limits of the instance")]
    return page(
        "Limits",
        "Everything is bounded. What an operator can choose stands among [the settings](settings.md#limits), request "
        "limits [with their buckets](api-limits.md). These are the others; some of them are the default of a setting.",
        *kept,
    )


def development_page() -> str:
    """The routes of `chat dev`: the paper of the contributors."""
    source = (ROOT / "docs" / "reference" / "development.md").read_text(encoding="utf-8")
    _, *sections = re.split(r"^(?=## )", source, flags=re.MULTILINE)
    return page(
        "Development",
        "`chat dev` runs a server for people who write bots, clients and tests: everything behaves as documented, and "
        "misbehaves on demand.\n\n```sh\nchat dev --port 8080 --json > world.json &\n"
        "while ! [ -s world.json ] && kill -0 $!; do sleep 0.2; done\n"
        "curl -sS -f http://127.0.0.1:8080/v1/_dev/sessions\n"
        "curl -sS -f -X POST http://127.0.0.1:8080/v1/_dev/clock -d '{\"advance_ms\": 60000}' "
        "-H 'Content-Type: application/json'\n"
        "curl -sS -f -X POST http://127.0.0.1:8080/v1/_dev/reset\n```",
        *(part.strip() for part in sections),
    )


RIGHTS: Final = (
    (
        "Permissions",
        "Bits of a member in a guild or a channel. They travel as a decimal number in text.",
        permissions,
        permissions.Permission,
    ),
    ("Scopes", "What an access token of OAuth2 covers.", scopes, scopes.Scope),
    ("Rights of administrators", "Held by accounts and admin keys; `*` is all of them.", acls, acls.Acl),
)
"""The registries of rights: title, text, module, registry."""

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "settings.md": settings_page,
    "commands.md": commands_page,
    "permissions.md": permissions_page,
    "values.md": values_page,
    "limits.md": limits_page,
    "development.md": development_page,
    "gateway.md": gateway_pages.gateway_page,
    "gateway-events.md": gateway_pages.events_page,
    "gateway-codes.md": gateway_pages.codes_page,
    "gateway-states.md": gateway_pages.states_page,
    "asyncapi.json": gateway_pages.asyncapi_text,
}
"""Each page by its name in chat/manual."""


def _setting_row(setting: Setting) -> list[str]:
    declared = setting.declaration
    default = declared.derived or f"`{shown(setting.of(Settings()))}`"
    meaning = declared.help[:1].upper() + declared.help[1:]
    return [f"`{setting.name}`", default, setting.expected, meaning]


def _command_section(name: str, command: click.Command | None, parent: click.Context, depth: int = 2) -> str:
    assert command is not None
    context = click.Context(command, info_name=name, parent=parent)
    parts = [f"{'#' * depth} {context.command_path}", _paragraphs(command.help or "")]
    if isinstance(command, click.Group):
        parts += [
            _command_section(inner, command.get_command(context, inner), context, depth + 1)
            for inner in command.list_commands(context)
        ]
    else:
        usage = " ".join([context.command_path, *filter(None, map(str.strip, command.collect_usage_pieces(context)))])
        parts.insert(1, f"`{usage}`")
        rows = list(_option_rows(command, context))
        if rows:
            parts.append(table(("option", "meaning"), rows))
    return "\n\n".join(part for part in parts if part)


def _option_rows(command: click.Command, context: click.Context) -> Iterator[list[str]]:
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None and record[0] and record[1]:
            yield [f"`{record[0]}`", _escaped(" ".join(record[1].split()))]


def _paragraphs(text: str) -> str:
    """A help text of click as Markdown: what stands behind \\b keeps its lines as a list of code."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        kept = paragraph.startswith("\b")
        lines = [line.strip() for line in paragraph.strip("\b\n").splitlines()]
        parts.append("```\n" + "\n".join(lines) + "\n```" if kept else _escaped(" ".join(lines)))
    return "\n\n".join(parts)


def _escaped(text: str) -> str:
    """Text of a terminal, in which nothing but backquotes is markup."""
    return re.sub(r"([*_<\[])(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\\\1", text)


def shown(value: object) -> str:
    """A value as a settings file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return "null" if value is None else str(value)
