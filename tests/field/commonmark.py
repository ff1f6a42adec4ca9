"""CommonMark's examples, and how a tree of ours is told as one of theirs. What ours does otherwise has a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

VERSION: Final = "0.31.2"

SECTIONS: Final = (
    "ATX headings", "Autolinks", "Backslash escapes", "Blank lines", "Block quotes", "Code spans",
    "Emphasis and strong emphasis", "Fenced code blocks", "Inlines", "Links", "List items", "Lists", "Precedence",
    "Soft line breaks", "Textual content",
)  # fmt: skip
"""Those of which our Markdown has anything."""

EXCEPTIONS: Final[Mapping[str, tuple[int, ...]]] = {
    "a message has no HTML of its own": (21, 344, 475, 476, 477, 491, 494, 524, 536, 308, 309),
    "a message has no definitions of links": (
        23, 317,
        527, 528, 529, 530, 531, 532, 533, 534, 535, 537, 538, 539, 540, 541, 542, 543, 544, 545, 549, 550, 552,
        553, 554, 555, 556, 557, 558, 559, 560, 561, 562, 563, 564, 565, 566, 567, 568, 569, 570, 571,
    ),
    "a message links to the web and to mail, by whole addresses": (
        22,
        484, 485, 486, 487, 489, 492, 495, 496, 498, 499, 500, 501, 502, 503, 504, 522, 596, 598, 599, 601, 604, 605,
    ),
    "a message has no pictures in its text": (517, 520),
    "an address is a link as it stands": (508, 513, 518, 519, 602, 608, 611),
    "the browser encodes an address, the tree has it as written": (20, 346, 526, 603),
    "any blank stands before a title": (507,),
    "line breaks and blanks are what was typed": (16, 67, 227, 248, 249, 262, 263, 275, 307, 320, 324, 325, 649),
    "there are three headings, at the start of a line, closed by nothing": (62, 68, 71, 72, 73, 79),
    "indentation makes no code": (
        18, 69, 70, 134, 231, 236, 252, 253, 254, 257, 264, 270, 271, 272, 273, 274, 286, 287, 288, 289, 313,
    ),
    "tildes make no code": (19, 120, 123, 125, 139, 141, 143, 146),
    "lines across and underlined headings are not ours": (77, 234, 246, 300),
    "code is closed, and has something in it": (126, 127, 128, 129, 130, 237),
    "code opens and closes within a line as well, so a bot's one-liner is code": (137, 144, 145, 147),
    "the name of a language is one word of letters, digits and _+#.-": (24,),
    "a quote has a blank behind its sign, and each of its lines has the sign": (
        229, 230, 232, 233, 238, 239, 240, 241, 247, 250, 251, 259, 260, 290, 292, 293,
    ),
    "a list's signs are -, * and 1., with words behind them": (
        278, 279, 280, 281, 282, 283, 284, 296, 297, 301, 302, 315,
    ),
    "a list may begin below a line, with any number": (304,),
    "two blanks make a list within a list": (276, 295, 310, 311, 312),
    "an empty line ends a list": (255, 306, 314, 326),
}  # fmt: skip

_EXAMPLE: Final = re.compile(r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$|^#{1,6} *([^\n]*)$", re.DOTALL | re.MULTILINE)
_BLOCK: Final = re.compile(r"\n*(</?(?:p|blockquote|ul|ol|li|pre|h\d|hr)\b[^>]*>)\n*")
_PLACE: Final = re.compile(r"(\]\(\s*<?)/ur")


@attrs.frozen
class Example:
    """What is written, and the tree that has to come of it."""

    number: int
    section: str
    text: str
    tree: str


def examples(specification: str) -> Iterator[Example]:
    """Those of our sections; places within a site are made whole addresses."""
    number, section = 0, ""
    for found in _EXAMPLE.finditer(specification):
        if found[3] is not None:
            section = found[3]
            continue
        number += 1
        if section in SECTIONS:
            text, html = (part.replace("\u2192", "\t") for part in found.group(1, 2))
            text = _PLACE.sub(r"\1https://e.example/ur", text).rstrip("\n")
            html = re.sub(r'(href="|\]\()/ur', r"\1https://e.example/ur", html)
            yield Example(number, section, text, their_tree(html))


def their_tree(html: str) -> str:
    """CommonMark's HTML without paragraphs, titles, and line breaks around blocks."""
    html = html.replace("</p>\n<p>", "\n\n").replace("\n</code></pre>", "</code></pre>")
    html = _BLOCK.sub(r"\1", re.sub(r' title="[^"]*"', "", html))
    return re.sub("</?p>", "", html).strip("\n")


def our_tree(html: str) -> str:
    """What `html` of texts.js tells, with the mark that underlines as CommonMark's strong one."""
    return re.sub(r"<(/?)u>", r"<\1strong>", html).strip("\n")
