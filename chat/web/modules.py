"""Reads an ES module of the web client: what it imports and exports, and its code without comments.

No parser of JavaScript is needed for that, only one that tells code from strings, templates, patterns and comments: the
modules keep to a part of the language (imports at the top, exports at the declaration and never reassigned, no default
export). What does not is a ModuleError, and the test that joins all modules finds it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from chat.classes import frozen

_PARTS: Final = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*[\s\S]*?\*/ )
    | (?P<string> "(?:[^"\\\n]|\\[\s\S])*" | '(?:[^'\\\n]|\\[\s\S])*' )
    | (?P<space> \s+ )
    | (?P<word> [\w$]+ )
    | (?P<step> \+\+ | -- )
    | (?P<other> [\s\S] )
    """,
    re.VERBOSE,
)
_PATTERN: Final = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
_TEMPLATE_TEXT: Final = re.compile(r"(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)")
_BEFORE_PATTERNS: Final = frozenset(
    ("await", "case", "delete", "do", "else", "in", "instanceof", "of", "return", "throw", "typeof", "void", "yield")
)
"""Words after which a slash begins a pattern, as it does after every sign that ends no value."""

_IMPORT: Final = re.compile(r'^import\s+(?:(?P<what>[^"\';()]+?)\s+from\s+)?"(?P<path>[^"]+)";?$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:(?:async )?function\*?|class|const) (?P<name>[\w$]+))", re.MULTILINE)
_DYNAMIC: Final = re.compile(r'\bimport\(\s*"([^"]+)",?\s*\)')
_STRANGE: Final = re.compile(r'^(?:import[\s{"*]|export\b).*|\bimport\.meta\b|\bimport\((?!\s*")', re.MULTILINE)
_ALL: Final = re.compile(r"\*\s+as\s+(?P<name>[\w$]+)")
_NAMED: Final = re.compile(r"\{(?P<names>[\w$,\s]*)\}")
_NAME: Final = re.compile(r"(?P<name>[\w$]+)(?:\s+as\s+(?P<alias>[\w$]+))?")


class ModuleError(Exception):
    """A module that does not keep to the rules; the message names it."""


@frozen
class Import:
    """An import of one module by another."""

    path: str
    names: tuple[tuple[str, str], ...] = ()
    """Of each export that is imported its name there and here."""
    all_as: str | None = None
    """The name that stands for all exports."""


@frozen
class Module:
    """One module; paths are those of files, from the folder in which all lie."""

    path: str
    code: str = attrs.field(repr=False)
    """Without comments, indentation, imports and the word `export`."""
    imports: tuple[Import, ...]
    exports: tuple[str, ...]
    dynamic: frozenset[str]
    """What it imports when it needs it, as it names it."""

    def resolved(self, address: str) -> str:
        """The path of a module that this one names."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.path), address))


def read_module(path: str, source: str) -> Module:
    """The module in this source text.

    :raises ModuleError: if it uses a form of import or export that is not allowed.
    """
    code = without_comments(source)
    imports = tuple(_import(path, match) for match in _IMPORT.finditer(code))
    exports = tuple(match["name"] for match in _EXPORT.finditer(code))
    code = _EXPORT.sub("", _IMPORT.sub("", code)).strip()
    strange = _STRANGE.search(code)
    if strange is not None:
        raise ModuleError(f"{path}: this form is not allowed: {strange[0]}")
    return Module(path, code, imports, exports, frozenset(_DYNAMIC.findall(code)))


def with_dynamic(module: Module, replacements: Mapping[str, str]) -> str:
    """The module's code with something else in place of each dynamic import."""
    return _DYNAMIC.sub(lambda match: replacements[match[1]], module.code)


def without_comments(source: str) -> str:
    """The same program: no comment, no indentation, no empty line."""
    return "".join(_kept(source)).strip()


def _kept(source: str) -> Iterator[str]:
    """A comment stands for a space, or for the end of the line where it has one inside: so the language says."""
    at, gap, last = 0, "", ""
    open_templates: list[int] = []  # for each template that has code inside, the braces that are open in that code
    while at < len(source):
        match = _PARTS.match(source, at)
        assert match is not None  # noqa: S101 - every character is a part
        text = match[0]
        if match.lastgroup in {"comment", "space"}:
            gap = "\n" if "\n" in text or gap == "\n" else " "
            at = match.end()
            continue
        if text == "/" and _begins_pattern(last):
            text = _whole(_PATTERN, source, at)
        elif text == "`":
            text = text + _whole(_TEMPLATE_TEXT, source, at + 1)
        elif text == "}" and open_templates and open_templates[-1] == 0:
            open_templates.pop()
            text = text + _whole(_TEMPLATE_TEXT, source, at + 1)
        elif open_templates and text in {"{", "}"}:
            open_templates[-1] += 1 if text == "{" else -1
        if text.endswith("${") and text[0] in "`}":
            open_templates.append(0)
        yield gap + text
        at, gap, last = at + len(text), "", text


def _whole(form: re.Pattern[str], source: str, at: int) -> str:
    match = form.match(source, at)
    if match is None:
        raise ModuleError(f"this has no end: {source[at : at + 40]!r}")
    return match[0]


def _begins_pattern(before: str) -> bool:
    if before in _BEFORE_PATTERNS or before == "":
        return True
    return not (before[-1].isalnum() or before[-1] in "_$)]}\"'`" or before in {"++", "--"})


def _import(path: str, match: re.Match[str]) -> Import:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match["path"]))
    what = (match["what"] or "{}").strip()
    if (whole := _ALL.fullmatch(what)) is not None:
        return Import(target, all_as=whole["name"])
    if (named := _NAMED.fullmatch(what)) is None or not match["path"].startswith("."):
        raise ModuleError(f"{path}: this form is not allowed: {match[0]}")
    parts = [part.strip() for part in named["names"].split(",") if part.strip()]
    names = [_NAME.fullmatch(part) for part in parts]
    if None in names:
        raise ModuleError(f"{path}: this form is not allowed: {match[0]}")
    return Import(target, tuple((name["name"], name["alias"] or name["name"]) for name in names if name is not None))
