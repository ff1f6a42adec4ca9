"""Every trap for every service: exports that are broken, that lie, or that somebody made to do harm. Each is brought
along by the command: it ends, the instance is whole, and what did not come is told."""

from __future__ import annotations

import contextlib
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from chat.errors import OperatorError
from chat.imports.json_stream import VALUE_CHARACTERS
from chat.registries.imports import ImportSource
from chat.snowflake import EPOCH_MS, snowflake_time_ms
from tests.imports.discord_world import packed, put
from tests.imports.import_command import ImportCommand
from tests.imports.talk_services import SERVICES
from tests.imports.talk_world import ANNA, EXAMPLE, HARBOUR, Part, Person, Room, Said, World, read, words

NAMES = sorted(SERVICES)
LONG = "n" * 10_000
Reasons = set[tuple[str, str]]


def brought(importing: ImportCommand, name: str, path: Path) -> tuple[dict[str, Any], Reasons]:
    found = importing.bring(name, path)
    importing.require_order()
    return found, {(one["kind"], one["reason"]) for one in (*found["refused"], *found["missing"])}


def said(number: int, *parts: Part, **more: Any) -> Said:
    return Said(number=number, room=HARBOUR.name, by=more.pop("by", ANNA.key), parts=parts, **more)


def world_of(*messages: Said, **more: Any) -> World:
    return attrs.evolve(EXAMPLE, said=messages, **more)


def largest(folder: Path) -> Path:
    """The file with the messages."""
    return next(one for one in sorted(folder.rglob("*"), key=lambda one: one.name) if _has_messages(one))


def _has_messages(place: Path) -> bool:
    return place.is_file() and place.suffix in (".json", ".jsonl") and b"The lamp is" in place.read_bytes()


def test_there_is_a_maker_for_each() -> None:
    assert {*ImportSource} - {ImportSource.DISCORD, ImportSource.COMMUNITY} == {*NAMES}


@attrs.frozen
class Trap:
    """What the world is, what is done to its files, and what the report has to say of it."""

    world: World = EXAMPLE
    spoil: Callable[[Path], None] = lambda _: None
    told: frozenset[tuple[str, str]] = frozenset()
    messages: int = len(EXAMPLE.said)
    least: int | None = None
    """Where the number depends on the format: as many at least."""


def cut_off(folder: Path) -> None:
    place = largest(folder)
    whole = place.read_bytes()
    place.write_bytes(whole[: whole.rindex(b"The lamp is") + 5])


def without_files(folder: Path) -> None:
    for place in folder.rglob("*dawn*"):
        place.unlink()


def as_links(folder: Path) -> None:
    secret = put(folder.parent, "secret.txt", b"secret")
    for place in folder.rglob("*dawn*"):
        place.unlink()
        place.symlink_to(secret)


def outside(folder: Path) -> None:
    """Every path in the export leads out of it."""
    put(folder.parent, "dawn.txt", b"secret")
    for place in [one for one in folder.rglob("*.json*") if one.is_file()]:
        place.write_bytes(place.read_bytes().replace(b"dawn.txt", b"../../../dawn.txt"))


def nested(folder: Path) -> None:
    put(folder, "deep.json", b"[" * 1_000_000)


def of_surrogates(folder: Path) -> None:
    place = largest(folder)
    place.write_bytes(place.read_bytes().replace(b"The lamp is", b"The lamp is \\ud83d \\u0000"))


ODD: Final = (None, -1, "odd", [None, 1], {"a": []}, 1 << 80, 1e300)
HUGE: Final = "word " * 2_000
TRAPS: Final[Mapping[str, Trap]] = {
    "broken off": Trap(spoil=cut_off, told=frozenset({("file", "not readable")}), least=0),
    "files missing": Trap(spoil=without_files, told=frozenset({("file", "file is missing")})),
    "files are links": Trap(spoil=as_links, told=frozenset({("file", "file is missing")})),
    "paths lead out": Trap(spoil=outside, told=frozenset({("file", "file is missing")})),
    "nested without end": Trap(spoil=nested),
    "half pairs and zeros": Trap(spoil=of_surrogates),
    "long names": Trap(
        world_of(
            said(1, words("x"), by="long", reactions={"\N{THUMBS UP SIGN}": ("long",)}),
            people=(ANNA, Person("long", LONG)),
            rooms=(attrs.evolve(HARBOUR, topic=LONG), Room("n" * 200)),
        ),
        messages=1,
    ),
    "long text": Trap(world_of(said(1, words(HUGE)), said(2, Part("code", "c" * 9_000))), messages=6),
    "1970": Trap(
        world_of(said(-26_666_000, words("old")), said(-26_666_660, words("older"))),
        told=frozenset({("message", "before 2015")}),
        messages=2,
    ),
    "2100": Trap(
        world_of(said(43_000_000, words("to come")), said(1, words("x"))),
        told=frozenset({("message", "from the future")}),
        messages=1,
    ),
    "answers in circles": Trap(
        world_of(said(1, words("a"), under=2), said(2, words("b"), under=1)), messages=2, least=0
    ),
    "answers to itself": Trap(world_of(said(1, words("a"), under=1)), messages=1),
    "answers to what is missing": Trap(
        world_of(said(1, words("x")), said(3, words("b"), under=2)), messages=2, least=1
    ),
    "the same twice": Trap(attrs.evolve(EXAMPLE, said=(*EXAMPLE.said, EXAMPLE.said[3]))),
    "people that nothing tells of": Trap(
        world_of(said(1, words("a"), Part("person", "ghost"), by="ghost"), people=()), messages=1
    ),
    "text like mentions": Trap(world_of(said(1, words("<@123> @everyone <#5> <:a:6>x"))), messages=1),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_harms_nothing(name: str, trap: str, importing: ImportCommand, tmp_path: Path) -> None:
    of = TRAPS[trap]
    folder = SERVICES[name].write(tmp_path / "in" / "export", of.world)
    of.spoil(folder)
    found, told = brought(importing, name, folder)
    assert of.told <= told
    if of.least is None:
        assert found["counts"]["messages"] == of.messages
    else:
        assert of.least <= found["counts"]["messages"] <= of.messages
    assert importing.rows("SELECT count(*) FROM attachments WHERE filename = 'secret.txt'") == [(0,)]
    assert "secret" not in str(importing.rows("SELECT content FROM messages"))
    again = importing.bring(name, folder)
    assert again["counts"]["messages"] == 0, "a second import doubles nothing"


def test_old_messages_keep_their_order(importing: ImportCommand, tmp_path: Path) -> None:
    for place, name in enumerate(NAMES):  # in 2010, each at another time
        world = world_of(said(place - 5_500_000, words("old")), said(place - 5_500_010, words("older")))
        importing.bring(name, SERVICES[name].write(tmp_path / name, world))
    shown = importing.rows("SELECT id, content FROM messages WHERE content LIKE 'old%' ORDER BY id")
    assert [content for _, content in shown] == ["older"] * len(NAMES) + ["old"] * len(NAMES)
    days = {(snowflake_time_ms(one) - EPOCH_MS) // 86_400_000 for one, _ in shown}
    assert days <= {0, 1, 2, 3}


def test_an_id_that_something_here_has_is_refused_and_told(importing: ImportCommand, tmp_path: Path) -> None:
    for name in NAMES:
        folder = SERVICES[name].write(tmp_path / name, EXAMPLE)
        importing.bring(name, folder)
        importing.execute("DELETE FROM imported_messages")  # as if somebody here had written them
        _, told = brought(importing, name, folder)
        assert ("message", "id is taken") in told


def test_nobody_here_is_named_by_words(importing: ImportCommand, tmp_path: Path) -> None:
    for name in NAMES:
        world = world_of(said(1, words("<@123> <@&5> @everyone")))
        importing.bring(name, SERVICES[name].write(tmp_path / name, world))
    assert importing.rows("SELECT * FROM message_mentions") == []
    assert importing.rows("SELECT * FROM messages WHERE mention_everyone") == []


@pytest.mark.parametrize("name", NAMES)
def test_archives_that_lie(name: str, importing: ImportCommand, tmp_path: Path) -> None:
    folder = SERVICES[name].write(tmp_path / "export", EXAMPLE)
    path = packed(folder, tmp_path / "export.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../outside.json", b"[]")
        link = zipfile.ZipInfo("link.json")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/hostname")
        archive.writestr("bomb.json", b"[" + b" " * (4 * VALUE_CHARACTERS))
    found, _ = brought(importing, name, path)
    assert found["counts"]["messages"] == len(EXAMPLE.said)
    path.write_bytes(path.read_bytes()[:-40])
    words_of_it = importing.refused("import", name, path, "--guild", importing.guild_id)
    assert "ZIP archive" in words_of_it


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_export_makes_no_guild(name: str, importing: ImportCommand, tmp_path: Path) -> None:
    put(tmp_path / "in", "notes.txt", b"hello")
    put(tmp_path / "in", "odd.json", {"a": [1]})
    importing.refused("import", name, tmp_path / "in", "--guild", "New one", "--owner", "alice")
    assert importing.rows("SELECT name FROM guilds WHERE name = 'New one'") == []


@pytest.mark.parametrize("name", NAMES)
def test_any_value_may_stand_anywhere(name: str, tmp_path: Path) -> None:
    """Each value of each file in turn is something else."""
    folder = SERVICES[name].write(tmp_path / "export", EXAMPLE)
    for place in [one for one in folder.rglob("*.json*") if one.is_file()]:
        kept, lines = place.read_text(), place.suffix == ".jsonl"
        whole = [json.loads(line) for line in kept.splitlines()] if lines else json.loads(kept)
        for path in list(_paths(whole)):
            for odd in ODD:
                spoiled = _replaced(whole, path, odd)
                place.write_text("\n".join(map(json.dumps, spoiled)) if lines else json.dumps(spoiled))
                with contextlib.suppress(OperatorError):
                    read(SERVICES[name].export, folder)
        place.write_text(kept)


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Any:
    if at:
        yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _paths(one, (*at, key))


def _replaced(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _replaced(value[path[0]], path[1:], odd)
    return copy
