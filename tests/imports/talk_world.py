"""A community as words describe it: people, rooms and what was said. Four makers write it as four services would
export it (`slack_maker` and its neighbours), and `seen` tells what of it has to come out of a reader.

What a text says is told by markdown-it, which knows nothing of our own reader: runs of words with the marks on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chat.imports.export_files import open_export
from chat.imports.form import (
    ChannelRecord,
    GuildRecord,
    MessageRecord,
    PersonRecord,
    Record,
    TroubleRecord,
)
from chat.imports.wishes import ReadingWish
from chat.registries.channel_types import THREAD_CHANNEL_TYPES
from chat.snowflake import snowflake_time_ms

BEGAN_MS: Final = 1_600_000_000_000
NOW_MS: Final = 1_700_000_000_000
THUMB, TADA, WAVE = "\N{THUMBS UP SIGN}", "\N{PARTY POPPER}", "\N{WAVING HAND SIGN}"
EMOJI_NAMES: Final[Mapping[str, str]] = {THUMB: "+1", TADA: "tada", WAVE: "wave"}


@attrs.frozen
class Part:
    """Some of a text: `words`, with the marks on them; `code`; or the key of a `person` or a `room`; a `link` to the
    address in `text`; an `emoji` by its character."""

    kind: str
    text: str
    marks: frozenset[str] = frozenset()


@attrs.frozen
class Person:
    key: str
    name: str


@attrs.frozen
class Room:
    name: str
    topic: str = ""
    members: tuple[str, ...] | None = None
    """Of a private one."""


@attrs.frozen(kw_only=True)
class Said:
    """One message; `number` counts minutes. `under` is the number of the message that has a thread with this one."""

    number: int
    room: str
    by: str
    parts: tuple[Part, ...]
    under: int | None = None
    edited: bool = False
    pinned: bool = False
    reactions: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    files: tuple[str, ...] = ()

    @property
    def moment_ms(self) -> int:
        return BEGAN_MS + self.number * 60_000


@attrs.frozen
class World:
    people: tuple[Person, ...]
    rooms: tuple[Room, ...]
    said: tuple[Said, ...]

    def person(self, key: str) -> Person:
        return next(one for one in self.people if one.key == key)

    def room(self, name: str) -> Room:
        return next(one for one in self.rooms if one.name == name)

    def numbered(self, number: int) -> Said:
        return next(one for one in self.said if one.number == number)


ANNA, BERT, CARLA = Person("anna", "Anna Ahoy"), Person("bert", "Bert"), Person("carla", "Carla \N{SNOWFLAKE}")
HARBOUR, BACK = Room("harbour", "ships and tides"), Room("back-room", "", ("anna", "bert"))


def words(text: str, *marks: str) -> Part:
    return Part("words", text, frozenset(marks))


EXAMPLE: Final = World(
    (ANNA, BERT, CARLA),
    (HARBOUR, BACK),
    (
        Said(
            number=1,
            room="harbour",
            by="anna",
            parts=(words("The lamp is"), words("lit", "bold"), Part("person", "bert"), Part("emoji", TADA)),
            reactions={THUMB: ("bert", "carla")},
            pinned=True,
            files=("dawn.txt",),
        ),
        Said(number=2, room="harbour", by="bert", parts=(words("seen *it* from_here"),), under=1, edited=True),
        Said(number=3, room="back-room", by="anna", parts=(words("quiet", "italic"), Part("room", "harbour"))),
        Said(
            number=4, room="harbour", by="carla", parts=(Part("code", "a < b"), Part("link", "https://ships.invalid/"))
        ),
    ),
)

# Any world

_MARKED = st.from_regex(r"[A-Za-z]{1,6}( [a-z]{1,5}){0,2}", fullmatch=True)
PLAIN = st.text(
    st.sampled_from("abXY 012*_~`|\\<>()[]!.,&;#@\N{LATIN SMALL LETTER U WITH DIAERESIS}"), min_size=1, max_size=12
)
_MARKS = st.frozensets(st.sampled_from(("bold", "italic", "strike")), max_size=2)


def _parts(people: tuple[str, ...], rooms: tuple[str, ...], plain: st.SearchStrategy[str]) -> st.SearchStrategy[Part]:
    return st.one_of(
        st.builds(lambda text: Part("words", f"x{' '.join(text.split())}x"), plain),
        st.builds(Part, st.just("words"), _MARKED, _MARKS),
        st.builds(Part, st.just("code"), st.from_regex(r"[a-z<>&*_ ]{0,5}[a-z]", fullmatch=True).map(str.strip)),
        st.builds(Part, st.just("person"), st.sampled_from(people)),
        st.builds(Part, st.just("room"), st.sampled_from(rooms)),
        st.builds(Part, st.just("link"), st.from_regex(r"https://[a-z]{1,5}\.invalid/[a-z_]{0,5}", fullmatch=True)),
        st.builds(Part, st.just("emoji"), st.sampled_from(sorted(EMOJI_NAMES))),
    )


@st.composite
def worlds(draw: st.DrawFn, plain: st.SearchStrategy[str] = PLAIN) -> World:
    """Any world of three people and two rooms."""
    people, rooms = (ANNA, BERT, CARLA), (HARBOUR, BACK)
    keys, names = tuple(one.key for one in people), tuple(one.name for one in rooms)
    said: list[Said] = []
    for number in range(1, 1 + draw(st.integers(1, 5))):
        roots = [one for one in said if one.under is None]
        root = draw(st.sampled_from(roots)) if roots and draw(st.booleans()) else None
        said.append(
            Said(
                number=number,
                room=draw(st.sampled_from(names)) if root is None else root.room,
                by=draw(st.sampled_from(keys)),
                parts=tuple(draw(st.lists(_parts(keys, names, plain), min_size=1, max_size=4))),
                under=None if root is None else root.number,
                edited=draw(st.booleans()),
                pinned=draw(st.booleans()),
                reactions=draw(
                    st.dictionaries(
                        st.sampled_from(sorted(EMOJI_NAMES)),
                        st.lists(st.sampled_from(keys), min_size=1, max_size=3, unique=True).map(tuple),
                        max_size=2,
                    )
                ),
                files=draw(st.sampled_from(((), ("a.txt",), ("a.txt", "b c.txt")))),
            )
        )
    return World(people, rooms, tuple(said))


# What came out

Run = tuple[str, frozenset[str]]


@attrs.frozen
class Seen:
    """One message as the records show it; `under` is when the message was written that has the thread."""

    moment_ms: int
    room: str
    by: str
    runs: tuple[Run, ...]
    under: int | None
    edited: bool
    pinned: bool
    reactions: frozenset[tuple[str, frozenset[str]]]
    files: tuple[str, ...]


def expected(world: World, *, pins: bool = True, topics: bool = False, files: int | None = None) -> list[Seen]:
    """What has to come out; `pins` False for a service whose export does not tell of them, `topics` True for one in
    which each message stands in a thread, `files` those that a message has at most."""
    return [
        Seen(
            moment_ms=one.moment_ms,
            room=one.room,
            by=world.person(one.by).name,
            runs=_together(_runs_of(world, one.parts)),
            under=world.numbered(one.under or one.number).moment_ms if topics or one.under else None,
            edited=one.edited,
            pinned=one.pinned and pins,
            reactions=frozenset(
                (emoji, frozenset(world.person(key).name for key in keys)) for emoji, keys in one.reactions.items()
            ),
            files=one.files[:files],
        )
        for one in world.said
    ]


def _runs_of(world: World, parts: tuple[Part, ...]) -> Iterator[Run]:
    for place, part in enumerate(parts):
        if place:
            yield " ", frozenset()
        match part.kind:
            case "person":
                yield f"@{world.person(part.text).name}", frozenset()
            case "room":
                yield f"#{part.text}", frozenset()
            case "code":
                yield part.text, frozenset({"code"})
            case "link":
                yield part.text, frozenset()
            case _:
                yield part.text, part.marks


def _together(runs: Iterator[Run]) -> tuple[Run, ...]:
    """Runs of the same marks as one; blanks carry none."""
    found: list[Run] = []
    for text, marks in runs:
        if found and found[-1][1] == marks:
            found[-1] = (found[-1][0] + text, marks)
        elif text:
            found.append((text, marks))
    return tuple(found)


_MARKDOWN: Final = MarkdownIt("zero").enable(
    ["emphasis", "strikethrough", "backticks", "escape", "link", "balance_pairs", "fragments_join"]
)
_NAMES: Final = {"strong": "bold", "em": "italic", "s": "strike"}


def runs_in(content: str, names: Mapping[int, str], rooms: Mapping[int, str]) -> tuple[Run, ...]:
    """What a text says, with names in place of ids."""
    for one, name in names.items():
        content = content.replace(f"<@{one}>", f"@{name}")
    for one, name in rooms.items():
        content = content.replace(f"<#{one}>", f"#{name}")

    def read() -> Iterator[Run]:
        marks: list[str] = []
        for token in _MARKDOWN.parseInline(content)[0].children or ():
            if token.type == "text":
                yield token.content, frozenset(marks)
            elif token.type == "code_inline":
                yield token.content, frozenset({"code"})
            elif token.type.endswith("_open") and token.type != "link_open":
                marks.append(_NAMES[token.type.removesuffix("_open")])
            elif token.type.endswith("_close") and token.type != "link_close":
                marks.remove(_NAMES[token.type.removesuffix("_close")])
            elif token.type in ("softbreak", "hardbreak"):
                yield "\n", frozenset(marks)

    return _together(read())


def seen(records: list[Record]) -> list[Seen]:
    """What the records show, in the order in which it was written."""
    names = {one.id: one.name for one in records if isinstance(one, PersonRecord)}
    channels = {one.id: one for one in records if isinstance(one, ChannelRecord)}
    rooms = {one.id: one.name for one in channels.values()}
    found = []
    for one in records:
        if not isinstance(one, MessageRecord):
            continue
        place = channels[one.channel_id]
        is_thread = place.type in THREAD_CHANNEL_TYPES
        found.append(
            Seen(
                moment_ms=snowflake_time_ms(one.id),
                room=rooms[place.parent_id or 0] if is_thread else place.name,
                by=names[one.author_id],
                runs=runs_in(one.content, names, rooms),
                under=snowflake_time_ms(place.id) if is_thread else None,
                edited=one.edited_at is not None,
                pinned=one.pinned,
                reactions=frozenset(
                    (each.name, frozenset(names[user] for user in each.user_ids)) for each in one.reactions
                ),
                files=tuple(file.name for file in one.files),
            )
        )
    return sorted(found, key=lambda one: one.moment_ms)


def require_order(records: list[Record]) -> None:
    """Fail unless everything comes before what names it, and no id comes twice."""
    known: set[int] = set()
    ids: set[int] = set()
    for one in records:
        match one:
            case PersonRecord():
                known.add(one.id)
            case ChannelRecord():
                assert one.parent_id is None or one.parent_id in known
                assert all(each.target_id in known for each in one.overwrites)
                known.add(one.id)
            case GuildRecord():
                known.add(one.id)
            case MessageRecord():
                named = {one.channel_id, *one.mentions, *(user for each in one.reactions for user in each.user_ids)}
                assert named <= known
                assert one.webhook_name is not None or one.author_id in known
                assert one.id not in ids
                ids.add(one.id)


def read(export: Any, path: Path, **wish: Any) -> list[Record]:
    """What a reader makes of an export."""
    files = open_export(path)
    try:
        return list(export.open(files).read(ReadingWish(**wish), NOW_MS))
    finally:
        files.close()


def reasons(records: list[Record]) -> list[tuple[str, str]]:
    return [(one.what, one.reason) for one in records if isinstance(one, TroubleRecord)]
