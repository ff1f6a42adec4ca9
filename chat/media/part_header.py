"""The Content-Disposition of a part of a form: its name, and the name of its file in all the ways that programs write
one (RFC 7578, RFC 8187, RFC 2231, RFC 2047, and the HTML Standard's form encoding).

Whoever says that a part is a file is believed, however badly the name is written: a file is never taken for a field,
and so lost. A name that cannot be read is made of what can.
"""

from __future__ import annotations

import binascii
import re
from typing import Final
from urllib.parse import unquote_to_bytes

_PARAMETER: Final = re.compile(
    rb"""([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*+)"(?=[ \t]*(?:;|$))|([^;]*))""",
    re.DOTALL,
)
"""A name, and a quoted value or what stands up to the next semicolon."""

_BETWEEN: Final = re.compile(rb"[;\s]*")
_PIECE: Final = re.compile(rb"([^*]+)\*([0-9]{1,2})(\*?)")
_EXTENDED: Final = re.compile(rb"([^']*)'[^']*'(.*)", re.DOTALL)
_ESCAPED: Final = re.compile(rb'\\([\\"])')
_WORD: Final = re.compile(r"=\?([-_0-9A-Za-z]+)(?:\*[^?]*)?\?([BbQq])\?([ ->@-~]*)\?=")
_BETWEEN_WORDS: Final = re.compile(r"(?<=\?=)[ \t]+(?==\?)")
_CHARSETS: Final = {"utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "utf-8", "iso-8859-1": "latin-1"}


def disposition_of(header: bytes) -> tuple[str, str | None] | None:
    """The name of a part and of its file (None for what is no file); None for what is no part of a form."""
    kind, _, rest = header.partition(b";")
    parameters = _parameters(rest)
    name = parameters.get(b"name")
    if kind.strip().lower() != b"form-data" or name is None:
        return None
    return _plain(name), _file_name(parameters)


def _parameters(text: bytes) -> dict[bytes, bytes]:
    """The parameters as written, of two of a name the first."""
    found: dict[bytes, bytes] = {}
    position = 0
    while 0 <= position < len(text):
        between = _BETWEEN.match(text, position)
        position = position if between is None else between.end()
        match = _PARAMETER.match(text, position)
        if match is None:
            position = text.find(b";", position)
            continue
        name, quoted, bare = match.groups()
        value = _ESCAPED.sub(rb"\1", quoted) if quoted is not None else bare.strip().strip(b'"')
        found.setdefault(name.lower(), value)
        position = match.end()
    return found


def _file_name(parameters: dict[bytes, bytes]) -> str | None:
    """The name in `filename*`, else in its numbered pieces, else in `filename` (RFC 6266, 4.3)."""
    extended = parameters.get(b"filename*")
    if extended is not None and (name := _extended(extended)):
        return name
    pieces = {
        int(match[2]): (value, bool(match[3]))
        for name, value in parameters.items()
        if (match := _PIECE.fullmatch(name)) and match[1] == b"filename"
    }
    if pieces:
        return _joined([pieces[number] for number in sorted(pieces)])
    plain = parameters.get(b"filename")
    if plain is None:
        return None if extended is None else ""
    return _plain(plain)


def _extended(value: bytes) -> str:
    """A value of the form charset'language'percent-encoded; one without quotes is percent-encoded UTF-8."""
    match = _EXTENDED.fullmatch(value)
    charset, encoded = match.groups() if match else (b"", value)
    return _decoded(unquote_to_bytes(encoded), charset)


def _joined(pieces: list[tuple[bytes, bool]]) -> str:
    """Pieces of one value, some of them percent-encoded; the first may name the charset (RFC 2231, 4.1)."""
    charset, whole = b"", bytearray()
    for place, (value, is_encoded) in enumerate(pieces):
        if is_encoded and not place and (match := _EXTENDED.fullmatch(value)):
            charset, value = match.groups()
        whole += unquote_to_bytes(value) if is_encoded else value
    return _decoded(bytes(whole), charset)


def _decoded(data: bytes, charset: bytes) -> str:
    """Bytes of a charset; of one that is not read here, or is not theirs, what `_text` makes of them."""
    try:
        return data.decode(_CHARSETS[charset.lower().decode("latin-1")])
    except (KeyError, UnicodeDecodeError):
        return _text(data)


def _text(data: bytes) -> str:
    """UTF-8, or where it is none, Latin-1."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _plain(value: bytes) -> str:
    """A value as text, with the words that mail programs encode (RFC 2047)."""
    text = _text(value)
    if "=?" not in text:
        return text
    return _WORD.sub(_word, _BETWEEN_WORDS.sub("", text))


def _word(match: re.Match[str]) -> str:
    charset, encoding, content = match.groups()
    try:
        if encoding in "Bb":
            data = binascii.a2b_base64(content + "=" * (-len(content) % 4))
        else:
            data = binascii.a2b_qp(content, header=True)
    except binascii.Error:
        return match[0]
    return _decoded(data, charset.encode("ascii"))
