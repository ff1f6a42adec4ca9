"""The pages of docs/reference that are made from the program's own declarations.

`python -m tests.docs.pages` writes them and those of the manual; `test_made_pages.py` fails while one of them is out
of date.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import pkgutil
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from chat import registries
from chat.admin.routes import ADMIN_ROUTES
from chat.api.openapi.inputs import told
from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.config.declare import Setting
from chat.config.loading import DEVELOPMENT, SETTINGS
from chat.config.settings import Settings
from chat.registries import close_codes, events, limits, opcodes
from chat.registries.error_codes import ErrorCode, FieldCode
from tests.docs import manual_pages
from tests.docs.declared import documented, members, plain

REFERENCE: Final = Path(__file__).parents[2] / "docs" / "reference"
NOTE: Final = "This page is made from the code by `python -m tests.docs.pages`. Change the declaration, not the page."
ELSEWHERE: Final = frozenset({"error_codes", "events", "limits", "opcodes", "close_codes", "unicode_emojis"})
"""Registries that have a page of their own, or need none."""


def settings_page() -> str:
    """Every setting, and what `chat dev` changes."""
    plain = {name: setting for name, setting in SETTINGS.items() if not name.startswith("limits.")}
    rows = ([f"`{name}`", _default(setting), setting.expected, _meaning(setting)] for name, setting in plain.items())
    developed = ([f"`{name}`", f"`{_shown(value)}`"] for name, value in DEVELOPMENT.items())
    return _page(
        "Settings",
        "`chat config show` prints every setting with its value and the origin of that value. The manual's page "
        "Operating tells where values come from. The settings `limits.*` are on the page of limits.",
        _section("Every setting", _table(("setting", "default", "takes", "meaning"), rows)),
        _section("Defaults of chat dev", _table(("setting", "value"), developed)),
    )


def limits_page() -> str:
    """What bounds something: the settings `limits.*`, and the constants of `chat.registries.limits`."""
    configured = (
        [f"`{name}`", _default(setting), _meaning(setting)]
        for name, setting in SETTINGS.items()
        if name.startswith("limits.")
    )
    sections = [
        _section(title, _table(("constant", "value", "what happens there"), rows))
        for title, rows in _limits_by_section().items()
    ]
    return _page(
        "Limits",
        "An operator chooses the limits of the instance. The other numbers are constants of `chat.registries.limits`; "
        "some of them are the default of a setting.",
        _section("Limits of the instance", _table(("setting", "default", "bounds"), configured)),
        *sections,
    )


def errors_page() -> str:
    """Every error code with its status and its default text."""
    codes = ([f"`{error}`", str(error.status), error.message] for error in ErrorCode)
    fields = ([f"`{code}`", code.message] for code in FieldCode)
    return _page(
        "Error codes",
        "The envelope is in http.md, Error envelope. Programs read `code`; the texts may change.",
        _section("Codes of answers", _table(("code", "status", "default text"), codes)),
        _section("Codes of fields", _table(("code", "default text"), fields)),
    )


def events_page() -> str:
    """Opcodes, Dispatches and close codes."""
    numbers = documented(opcodes)["Opcode"]
    names = documented(events)["EventName"]
    audiences = documented(events)["Audience"]
    reasons = documented(close_codes)[""]
    rows = (
        [
            f"`{name}`",
            rule.audience.value,
            "yes" if rule.retained else "no",
            "yes" if rule.passive else "no",
            names[name.name],
        ]
        for name, rule in events.EVENTS.items()
    )
    closes = (
        [str(int(value.code)), f"`{value.reason}`" if value.reason else "none", reasons[name]]
        for name, value in vars(close_codes).items()
        if isinstance(value, close_codes.Close) and name in reasons
    )
    return _page(
        "Opcodes, Dispatches and close codes",
        "What the gateway does with them is in gateway.md.",
        _section("Opcodes", _table(("op", "name", "meaning"), members(opcodes.Opcode, numbers))),
        _section(
            "Dispatches",
            _table(("`t`", "audience", "retained", "passive sessions", "meaning"), rows),
            _table(("audience", "who receives"), ([item.value, audiences[item.name]] for item in events.Audience)),
        ),
        _section("Close codes", _table(("code", "reason", "when"), closes)),
    )


def operations_page() -> str:
    """Every HTTP operation, by the module that declares it."""
    sections = []
    for routes in sorted({id(one): one for one in (*ROUTES, *ADMIN_ROUTES)}.values(), key=_module_of):
        rows = (_operation_row(operation) for operation in routes.operations)
        sections.append(
            _section(_module_of(routes), _table(("operation", "credential", "limit", "ACLs", "what it does"), rows))
        )
    return _page(
        "Operations",
        "`GET /v1/openapi.json` tells of bodies, queries and answers as well. Credentials are in access.md, Credential "
        "policies.",
        *sections,
    )


def registries_page() -> str:
    """Every other registry: names and numbers that travel on the wire."""
    sections = []
    for module in _registry_modules():
        texts = documented(module)
        for name, registry in vars(module).items():
            if isinstance(registry, enum.EnumMeta) and registry.__module__ == module.__name__:
                about = plain(inspect.getdoc(registry) or "")
                rows = list(members(registry, texts.get(name, {})))
                head = ["value", "name", "meaning"]
                if not any(meaning for _, _, meaning in rows):  # the names say it
                    head, rows = head[:2], [row[:2] for row in rows]
                sections.append(_section(name, about, _table(head, rows)))
    return _page("Registries", "The enumerations of `chat.registries`.", *sections)


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "settings.md": settings_page,
    "limits.md": limits_page,
    "errors.md": errors_page,
    "events.md": events_page,
    "operations.md": operations_page,
    "registries.md": registries_page,
}
"""Each page by its name in docs/reference."""


def _operation_row(operation: Operation) -> list[str]:
    bucket = operation.bucket
    limit = "" if bucket is None else f"{bucket.limit} per {bucket.window_ms / 1000:g} s, `{bucket.name}`"
    credential = operation.policy.value + (f", scope `{operation.scope.value}`" if operation.scope else "")
    acls = " and ".join(" or ".join(f"`{acl.value}`" for acl in sorted(one)) for one in operation.acls)
    summary, _ = told(operation.handler.__doc__)
    return [f"`{operation.method} {operation.path}`", credential, limit, acls, summary]


def _module_of(routes: Any) -> str:
    module: str = routes.operations[0].handler.__module__
    return module


def _registry_modules() -> Iterator[types.ModuleType]:
    for module in pkgutil.iter_modules(registries.__path__):
        if module.name not in ELSEWHERE:
            yield importlib.import_module(f"{registries.__name__}.{module.name}")


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
            value = (
                f"{getattr(limits, name):,}" if isinstance(getattr(limits, name), int) else str(getattr(limits, name))
            )
            sections.setdefault(title, []).append([f"`{name}`", value, texts[name]])
    return sections


def _default(setting: Setting) -> str:
    declared = setting.declaration
    return declared.derived or f"`{_shown(setting.of(Settings()))}`"


def _meaning(setting: Setting) -> str:
    declared = setting.declaration
    return declared.help + (f" ({declared.unit})" if declared.unit else "")


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return "null" if value is None else str(value)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _section(title: str, *parts: str) -> str:
    return "\n\n".join((f"## {title}", *parts))


def _page(title: str, about: str, *sections: str) -> str:
    return "\n\n".join((f"# {title}", about, NOTE, *sections)) + "\n"


def write() -> None:
    """Write every page."""
    for folder, pages in ((REFERENCE, PAGES), (manual_pages.MANUAL, manual_pages.PAGES)):
        for name, page in pages.items():
            (folder / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write()
