"""What was said elsewhere comes out as it was said, whichever service exported it: any world, written by its maker."""

from __future__ import annotations

import shutil
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.imports.form import ChannelRecord, MessageRecord, Record
from chat.registries.channel_types import OverwriteType
from tests.imports.talk_services import SERVICES, Service
from tests.imports.talk_world import BACK, EXAMPLE, World, expected, read, reasons, require_order, seen, worlds


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> Service:
    return SERVICES[request.param]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("worlds")


def brought(service: Service, folder: Path, world: World) -> list[Record]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return read(service.export, service.write(folder / "export", world))


@pytest.mark.parametrize("name", SERVICES)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_any_world_comes_out_as_it_was(name: str, place: Path, data: st.DataObject) -> None:
    service = SERVICES[name]
    world = data.draw(worlds(service.plain))
    records = brought(service, place / name, world)
    require_order(records)
    assert seen(records) == expected(world, pins=service.pins, topics=service.topics, files=service.files)
    assert reasons(records) == []
    assert brought(service, place / name, world) == records, "another reading gives other ids"


def test_a_newer_export_gives_the_same_ids(service: Service, place: Path) -> None:
    old = brought(service, place / "newer", attrs.evolve(EXAMPLE, said=EXAMPLE.said[:2]))
    new = brought(service, place / "newer", EXAMPLE)
    ids = [[one.id for one in records if isinstance(one, MessageRecord | ChannelRecord)] for records in (old, new)]
    assert set(ids[0]) < set(ids[1])


def test_a_private_room_is_for_its_members(service: Service, place: Path) -> None:
    records = brought(service, place / "private", EXAMPLE)
    [room] = [one for one in records if isinstance(one, ChannelRecord) and one.name == BACK.name]
    closed, *opened = room.overwrites
    assert (closed.type, closed.allow) == (OverwriteType.ROLE, 0)
    assert closed.deny
    assert [(one.type, one.allow, one.deny) for one in opened] == [(OverwriteType.MEMBER, closed.deny, 0)] * 2
