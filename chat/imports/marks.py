"""Writes the Markdown that messages here have (`chat.markdown`): text that is to show as it is, and the marks around
what is bold, quoted or code."""

from __future__ import annotations

import re
from typing import Final

_SPECIAL: Final = re.compile(
    r"(?P<address>\bhttps?://[^\s<>]+)"
    r"|\\(?=[!-/:-@\[-`{-~])"
    r"|`"
    r"|(?<!\s)\*|\*(?!\s)"
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
    r"|~(?=~)|(?<=~)~|\|(?=\|)|(?<=\|)\|"
    r"|\](?=\()"
    r"|<(?=[@#:a])"
    r"|(?<!\w)@(?=(?:everyone|here)(?!\w))"
    r"|^(?=(?:\#{1,3}|-\#|>|>>>)[ ])",
    re.MULTILINE | re.VERBOSE,
)
_AROUND: Final = re.compile(r"(\s*)(.*?)(\s*)", re.DOTALL)
_TICKS: Final = re.compile("`+")
_SCHEMES: Final = ("https://", "http://", "mailto:")
_IN_ADDRESS: Final = re.compile(r"[\s()<>\\`|]")
ADDRESS_CHARACTERS: Final = 2_000


def escaped(text: str) -> str:
    """The text with a backslash before each sign that would be a mark; addresses stay whole."""
    return _SPECIAL.sub(lambda found: found[0] if found["address"] else f"\\{found[0]}", text)


def marked(mark: str, text: str) -> str:
    """The text between two marks, which stand right beside words."""
    found = _AROUND.fullmatch(text)
    if found is None or not found[2]:
        return text
    return f"{found[1]}{mark}{found[2]}{mark}{found[3]}"


def _ticks(text: str, least: int) -> str:
    """More back ticks than the text has in a row."""
    return "`" * max(least, 1 + max(map(len, _TICKS.findall(text)), default=0))


def code(text: str) -> str:
    """Code in a line."""
    text = " ".join(text.splitlines())
    if not text.strip():
        return text
    ticks = _ticks(text, 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{room}{text}{room}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Code on lines of its own."""
    ticks = _ticks(text, 3)
    return f"{ticks}{language}\n{text.strip(chr(10))}\n{ticks}"


def link(address: str, label: str = "") -> str:
    """A link with its label, which is written already; text where the address leads nowhere."""
    if not address.lower().startswith(_SCHEMES) or len(address) > ADDRESS_CHARACTERS:
        return label or escaped(address)
    address = _IN_ADDRESS.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), address)
    if not label.strip() or label in (address, address.partition(":")[2]) or "](" in label:
        return address if address.startswith("http") else address.partition(":")[2]
    return f"[{label}]({address})"


def quoted(text: str) -> str:
    """Each line as a quote."""
    return "\n".join(f"> {line}" for line in text.strip("\n").split("\n"))


def on_lines(parts: list[str]) -> str:
    """The parts below each other, those that say something."""
    return "\n".join(part.strip("\n") for part in parts if part.strip())
