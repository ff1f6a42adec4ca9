"""In what encoding a page of a stranger's is: as browsers decide it (HTML, 13.2.3), by the labels of the Encoding
Standard."""

from __future__ import annotations

import codecs
import re
from typing import Final

import webencodings

DECLARED_BYTES: Final = 1_024
"""Where a page declares its encoding (HTML, 4.2.5.4)."""

_BEGINNINGS: Final = (
    (b"\xef\xbb\xbf", 3, "utf-8"),
    (b"\xff\xfe", 2, "utf-16-le"),
    (b"\xfe\xff", 2, "utf-16-be"),
    (b"<\x00?\x00x\x00", 0, "utf-16-le"),
    (b"\x00<\x00?\x00x", 0, "utf-16-be"),
)
"""What a page may begin with, how much of that is no text, and the encoding that it proves."""

_VALUE: Final = r"""\s*=\s*("[^"]*"|'[^']*'|[^\s;>"']+)"""
_PARAMETER: Final = re.compile(rf"(?:^|[;\s])charset{_VALUE}", re.IGNORECASE)
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_META: Final = re.compile(r"""<meta[\s/]((?:"[^"]*"|'[^']*'|[^"'>])*)""", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"""([^\s/>=]+)\s*=\s*("[^"]*"|'[^']*'|[^\s>"']+)""")
_XML: Final = re.compile(rf"\A<\?xml\s[^>]*?\sencoding{_VALUE}")

_DECODERS: Final = {"gbk": "gb18030"}
"""Where the standard reads by another decoder than the library."""


def parameter(kind: str) -> str | None:
    """The label that a Content-Type, or a `meta` element in its place, gives."""
    match = _PARAMETER.search(kind)
    return None if match is None else _bare(match[1])


def text_of(data: bytes, label: str | None) -> str:
    """The beginning of a page as text; what makes no sense is replaced. `label` is that of the Content-Type.

    What the bytes begin with counts first, then the label, then what the page says of itself. Where nothing is said it
    is UTF-8 if it can be, else windows-1252: most pages that say nothing are one or the other.
    """
    for mark, length, encoding in _BEGINNINGS:
        if data.startswith(mark):
            return data[length:].decode(encoding, "replace")
    head = data[:DECLARED_BYTES].decode("latin-1")
    encoding = _known(label) or _readable(_known(_of_meta(head)) or _known(_of_xml(head))) or _likely(data)
    return _decoder(encoding).decode(data, "replace")[0]


def _known(label: str | None) -> str | None:
    """The encoding that a label names; None for one that the standard does not know."""
    encoding = None if label is None else webencodings.lookup(label)
    return None if encoding is None else str(encoding.name)


def _readable(encoding: str | None) -> str | None:
    """The encoding of a page whose declaration could be read byte by byte."""
    if encoding in {"utf-16le", "utf-16be"}:
        return "utf-8"
    return "windows-1252" if encoding == "x-user-defined" else encoding


def _likely(data: bytes) -> str:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)  # which leaves a character that is cut off
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def _decoder(encoding: str) -> codecs.CodecInfo:
    if encoding in _DECODERS:
        return codecs.lookup(_DECODERS[encoding])
    info: codecs.CodecInfo = webencodings.lookup(encoding).codec_info
    return info


def _of_meta(head: str) -> str | None:
    for match in _META.finditer(_COMMENT.sub("", head)):
        attributes: dict[str, str] = {}
        for name, value in _ATTRIBUTE.findall(match[1]):
            attributes.setdefault(name.lower(), _bare(value))
        if "charset" in attributes:
            return attributes["charset"]
        if attributes.get("http-equiv", "").lower() == "content-type":
            label = parameter(attributes.get("content", ""))
            if label is not None:
                return label
    return None


def _of_xml(head: str) -> str | None:
    match = _XML.match(head)
    return None if match is None else _bare(match[1])


def _bare(value: str) -> str:
    return value.strip("\"'").strip()
