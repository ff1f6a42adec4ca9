"""The settings with their defaults, and the limits that are no settings."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Final

from chat.config.declare import Setting
from chat.config.loading import DEVELOPMENT, SETTINGS
from chat.config.settings import Settings
from chat.manual.declared import documented, plain
from chat.manual.markdown_text import page, table
from chat.registries import limits

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
    "gif": "Moving pictures",
    "webauthn": "Passkeys",
    "ip_ban": "Address bans",
    "gateway": "Gateway",
    "media": "Media",
    "archives": "Archives",
    "imports": "Moving in",
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
    developed = ([f"`{name}`", f"`{_shown(value)}`"] for name, value in DEVELOPMENT.items())
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


def limits_page() -> str:
    """The constants of `chat.registries.limits`, section by section."""
    return page(
        "Limits",
        "Everything is bounded. What an operator can choose stands among [the settings](settings.md#limits), request "
        "limits [with their buckets](api-limits.md). These are the others; some of them are the default of a setting.",
        *(
            f"## {title}\n\n{table(('constant', 'value', 'what happens there'), rows)}"
            for title, rows in _limits_by_section().items()
        ),
    )


def _limits_by_section() -> dict[str, list[list[str]]]:
    """The constants of `chat.registries.limits` below the comments that divide the module."""
    source = inspect.getsource(limits).splitlines()
    headings = {number: plain(line[2:]) for number, line in enumerate(source, 1) if line.startswith("# ")}
    texts = documented(limits)[""]
    sections: dict[str, list[list[str]]] = {}
    for node in ast.parse("\n".join(source)).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id in texts:
            title = headings[max(number for number in headings if number < node.lineno)]
            name = node.target.id
            value = getattr(limits, name)
            shown = f"{value:,}" if isinstance(value, int) else str(value)
            sections.setdefault(title, []).append([f"`{name}`", shown, texts[name]])
    return sections


def _setting_row(setting: Setting) -> list[str]:
    declared = setting.declaration
    default = declared.derived or f"`{_shown(setting.of(Settings()))}`"
    meaning = declared.help[:1].upper() + declared.help[1:]
    return [f"`{setting.name}`", default, setting.expected, meaning]


def _shown(value: object) -> str:
    """A value as a settings file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return "null" if value is None else str(value)
