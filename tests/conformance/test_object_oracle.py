"""What hangs on a channel is named, changed and shown only where its own operation allows it (design 8).

`spec_fixtures/access/objects.json` says of every operation where it names or shows channels, messages, roles and
webhooks, and which requests to try. Every caller sends every request about every object: where the object's own
operation refuses the caller, the request has to be refused too, and no answer and no event may show the object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import pytest
from trio.testing import MockClock

from chat.clock import iso_timestamp
from chat.registries.opcodes import Opcode
from chat.registries.permissions import Permission
from chat.snowflake import snowflake_time_ms
from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response, RestClient
from chat.testing.world import World
from tests.conformance.object_places import EMOJI, EVERY_BIT, MARK, OF_CHANNELS, VIEW, WORDS, Caller, Place, Scene
from tests.conformance.object_table import (
    JUDGED,
    OWN_OPERATIONS,
    TABLE,
    Trial,
    declared,
    kind_of,
    named_by,
    shown_by,
    trials,
    tried_at,
)
from tests.guilds.test_rules_mfa_levels import ask_for_factors

FILE: Final = "spec_fixtures/access/objects.json"

GUILD_WIDE: Final = re.compile(rb'"(?:system|afk|rules)_channel_id":"[0-9]+"')
"""Members of the guild object, which everybody in the guild has (document 001, Guild object)."""

KNOWS_THREADS: Final = 1 << 2
"""Identify's flag of a session that knows threads."""

SCHEDULED: Final = "/v1/users/@me/scheduled-messages"

SOON_MS: Final = 20 * 86_400_000
"""How long after the guild was made scheduled messages fall due: the scene may live in real time, or in January."""

Refusal = tuple[int, str | None]


def test_the_table_holds_every_operation_and_no_other() -> None:
    apart, rows = TABLE["apart"], {row["operation"]: row for row in TABLE["operations"]}
    known = [*apart, *rows]
    assert len(known) == len(set(known)), f"{FILE} names an operation twice"
    by_name = {f"{operation.method} {operation.path}": operation for operation in declared()}
    new, gone = by_name.keys() - set(known), set(known) - by_name.keys()
    assert not new, (
        f"{FILE} lacks {sorted(new)}: name them in `apart` where they have nothing to do with channels, messages, "
        "roles and webhooks, else give them a row in `operations` (tests/conformance/object_table.py says how)"
    )
    assert not gone, f"{FILE} names operations that do not exist: {sorted(gone)}"
    for name, operation in by_name.items():
        row = rows.get(name, {})
        kinds = {place: kind_of(place, row) for place in named_by(operation)}
        unknown = sorted(place for place, kind in kinds.items() if kind is None)
        assert not unknown, f"name what these name under `kinds` of {FILE}: {unknown} of {name}"
        assert row.get("kinds", {}).keys() <= kinds.keys(), f"{FILE}: {name} reads no such member"
        judged = {place for place, kind in kinds.items() if kind in JUDGED}
        if name in apart:
            assert not judged | shown_by(operation), (
                f"{FILE}: {name} names {judged} and shows {shown_by(operation)}; give it a row in `operations`"
            )
        else:
            assert set(row.get("shows", ())) == shown_by(operation), f"{FILE}: {name} shows {shown_by(operation)}"
            untried = judged - tried_at(row)
            assert "unasked" in row or not untried, f"{FILE}: give {name} `requests` for {untried}, or say `unasked`"


@attrs.define
class Oracle:
    """Asks every caller for everything, and holds the answers against those of the objects' own operations."""

    scene: Scene
    found: list[str] = attrs.field(factory=list)
    _sessions: dict[str, GatewayClient] = attrs.field(factory=dict)
    _own: dict[tuple[str, str, str], Response] = attrs.field(factory=dict)
    _forbidden: dict[tuple[str, bool], re.Pattern[bytes]] = attrs.field(factory=dict)

    async def own(self, caller: Caller, asked: str, place: Place) -> Response:
        """What the object's own operation says to the caller."""
        key = caller.name, asked, place.kind
        if key not in self._own:
            method, path, body = OWN_OPERATIONS[asked]
            self._own[key] = await caller.rest.request(method, self.fill(path, place, caller.ground), json=body)
        return self._own[key]

    async def ask(self, caller: Caller, trial: Trial, place: Place) -> None:
        """Send one request about one object."""
        refusal: Refusal | None = None
        if trial.asked in OWN_OPERATIONS:
            own = await self.own(caller, trial.asked or "", place)
            refusal = (own.status, own.code) if own.status >= 400 else None
        if trial.unless is not None and caller.by_role & Permission[trial.unless]:
            refusal = None
        if refusal is None and trial.asked in OWN_OPERATIONS and not trial.only_reads:
            return  # it may succeed, and would use the object up
        answer = await self.send(caller.rest, trial, place, caller.ground)
        told = f"{caller.name}: {trial.operation} {self.shown(trial)} with {place.kind}"
        if refusal is not None and not trial.passes_over:
            if answer.status < 400:
                self.found.append(f"{told} gave {answer.status} where {trial.asked} gives {refusal}")
            elif trial.in_path and not await self.is_said_as(caller, answer, place, refusal):
                self.found.append(f"{told} gave {answer.status} {answer.code} where {trial.asked} gives {refusal}")
        if not trial.whole:
            self.look_at(await self.forbidden(caller), answer.body, told)

    async def is_said_as(self, caller: Caller, answer: Response, place: Place, refusal: Refusal) -> bool:
        """Whether the answer tells no more than the own operation of what the caller does not see."""
        if place.kind not in self.scene.hidden or (await self.own(caller, "sees", place)).status < 400:
            return True
        return (answer.status, answer.code) in (refusal, (403, "ACCESS_DENIED"))  # the latter: bots may not ask at all

    def look_at(self, forbidden: re.Pattern[bytes], text: bytes, told: str) -> None:
        """Find what may not be shown."""
        shown = forbidden.search(GUILD_WIDE.sub(b"", text))
        if shown is not None:
            self.found.append(f"{told} showed {shown[0].decode()}")

    async def forbidden(self, caller: Caller, *, live: bool = False) -> re.Pattern[bytes]:
        """What the caller may not be shown; `live` for what it hears at the moment at which it happens, which everybody
        hears who sees the channel."""
        key = caller.name, live
        if key not in self._forbidden:
            self._forbidden[key] = await self._forbidden_to(caller, live)
        return self._forbidden[key]

    async def _forbidden_to(self, caller: Caller, live: bool) -> re.Pattern[bytes]:
        words: set[str] = set()
        labels: set[str] = set()
        for place in self.scene.made:
            fixed = self.scene.hidden[place.kind]
            if (await self.own(caller, "sees", fixed)).status >= 400:
                words |= {f'"{place.channel_id}"', f'"{place.message_id}"', place.code, place.token}
                labels |= {f"{MARK}-{place.label}", f"{WORDS}-{place.label}"}
            elif not live and (await self.own(caller, "reads", fixed)).status >= 400:
                labels.add(f"{WORDS}-{place.label}")
            if place.token and (await self.own(caller, "webhook", fixed)).status >= 400:
                words |= {place.token}
        words -= {"", '"1"'}
        patterns = [*map(re.escape, sorted(words)), *(rf"{re.escape(label)}\b" for label in sorted(labels))]
        return re.compile("|".join(patterns).encode() or b"(?!)")

    @property
    def soon(self) -> str:
        """When scheduled messages fall due."""
        return iso_timestamp(snowflake_time_ms(int(self.scene.guild_id)) + SOON_MS)

    async def scheduled(self, rest: RestClient) -> str:
        """The id of a message to themselves that somebody has scheduled; some other id for bots, which may not."""
        listed = await rest.get(SCHEDULED)
        if listed.status == 403:
            return "1"
        for entry in listed.expect(200):
            return str(entry["id"])
        own = (await rest.get("/v1/users/@me")).expect(200)["id"]
        note = {"content": "x", "scheduled_local_at": self.soon}
        made = (await rest.post(f"/v1/channels/{own}/messages/schedule", note)).expect(201)
        return str(made["id"])

    async def send(
        self, rest: RestClient, trial: Trial, place: Place, ground: Mapping[str, str] | None = None
    ) -> Response:
        """The request with an object in place of the placeholders."""
        if trial.names("$scheduled"):
            ground = {**(ground or {}), "scheduled": await self.scheduled(rest)}
        query = {name: self.fill(value, place, ground) for name, value in trial.query.items()}
        body = trial.body if trial.body is ... else json.loads(self.fill(json.dumps(trial.body), place, ground))
        return await rest.request(trial.method, self.fill(trial.path, place, ground), json=body, query=query)

    def fill(self, text: str, place: Place, ground: Mapping[str, str] | None = None) -> str:
        """Text with ids in place of placeholders."""
        scene = self.scene
        values = {
            "channel": place.channel_id,
            "message": place.message_id,
            "webhook": place.webhook_id,
            "attachment": place.attachment_id,
            "code": place.code or "none",
            "role": place.channel_id,
            "guild": scene.guild_id,
            "member": scene.world.carol.id,
            "emoji": EMOJI,
            "soon": self.soon,
            "open": scene.open["text"].channel_id,
            "open_news": scene.open["news"].channel_id,
            "open_forum": scene.open["forum"].channel_id,
            "open_category": scene.open["category"].channel_id,
            "open_webhook": scene.open["text"].webhook_id,
            **(ground or {}),
        }
        return re.sub(r"\$([a-z_]+)", lambda match: values[match[1]], text)

    async def listen(self, caller: Caller) -> None:
        """Connect the caller, and have it ask by the gateway for whatever that tells of hidden places."""
        assert caller.actor is not None
        guild_id = self.scene.guild_id
        session = self._sessions[caller.name] = await caller.actor.connect(flags=KNOWS_THREADS)
        for place in self.scene.hidden.values():
            ranges = {place.channel_id: [[0, 99]]}
            await session.watch(guild_id, member_list_channels=ranges, thread_member_lists=[place.channel_id])
            await session.update_voice_state(guild_id, place.channel_id)
            counted = {"guild_id": guild_id, "channel_ids": [place.channel_id]}
            await session.send(Opcode.REQUEST_CHANNEL_MEMBER_COUNTS, counted)
            unread = {"guild_id": guild_id, "channel_id": place.channel_id, "threads": []}
            await session.send(Opcode.REQUEST_FORUM_UNREADS, unread)
        await session.watch(guild_id, active=True, sync=True, threads=True)

    async def hear(self, caller: Caller) -> None:
        """Look at everything that the gateway told the caller."""
        session = self._sessions[caller.name]
        await session.expect("MESSAGE_CREATE", where=lambda message: message["content"] == "done")
        forbidden = await self.forbidden(caller, live=True)
        for payload in session.dispatches:
            if payload.name != "GUILD_AUDIT_LOG_ENTRY_CREATE":  # for those who read the whole log
                text = json.dumps(payload.data, separators=(",", ":")).encode()
                self.look_at(forbidden, text, f"{caller.name}: {payload.name}")

    async def owner_may(self, trial: Trial) -> None:
        """The owner's request about the like object succeeds, or those of others were refused for nothing."""
        refused = []
        for kind in [place.kind for place in self.places(trial)]:
            is_role = kind not in self.scene.hidden
            place = Place(kind, await self.scene.new_role()) if is_role else await self.scene.new(kind)
            answer = await self.send(self.scene.owner, trial, place)
            if answer.status < 400 or answer.code == trial.own_code:
                if trial.publishes:
                    self.scene.made.remove(place)
                return
            refused.append(f"{place.kind}: {answer.body[:200]!r}")
        self.found.append(f"the owner cannot {trial.operation} {self.shown(trial)}: {refused}")

    def compare(self, before: Sequence[Any], after: Sequence[Any]) -> None:
        """Nothing was found, and the hidden places are as they were."""
        changed = [f"{was} became {became}" for was, became in zip(before, after, strict=True) if was != became]
        assert not [*self.found, *changed], "\n".join([*self.found, *changed])

    @staticmethod
    def shown(trial: Trial) -> str:
        """The request in a report."""
        return json.dumps([trial.path, trial.query, None if trial.body is ... else trial.body])

    def places(self, trial: Trial, caller: Caller | None = None) -> Iterator[Place]:
        """The objects to try a request with."""
        if trial.in_guild and caller is not None and caller.ground:
            return
        if trial.names("$role"):
            yield Place("role above", self.scene.role_id)
            yield Place("role below", self.scene.low_role_id)
        elif trial.names("$webhook", "$code"):
            yield from (place for place in self.scene.hidden.values() if place.code)
        elif trial.names("$channel", "$message"):
            yield from (
                place for place in self.scene.hidden.values() if not trial.in_guild or place.kind in OF_CHANNELS
            )
        else:
            yield self.scene.hidden["text"]


MIGHTY: Final = EVERY_BIT & ~VIEW


async def opened(world: World) -> Scene:
    """The scene before anybody but the owner has come."""
    scene = Scene(world)
    await scene.found()
    return scene


@pytest.mark.long
async def test_no_operation_is_a_way_round_the_own_operation_of_an_object(chat_world: World) -> None:
    scene = await opened(chat_world)
    for name, lacks in (
        ("no guild", Permission.MANAGE_GUILD),
        ("no threads", Permission.MANAGE_THREADS),
        ("no history", Permission.READ_MESSAGE_HISTORY),
    ):
        await scene.join(name, EVERY_BIT & ~lacks, MIGHTY & ~lacks)
    await scene.join("mighty", EVERY_BIT, MIGHTY, chat_world.bob)
    await scene.join("a mighty bot", EVERY_BIT, MIGHTY, chat_world.bot)
    await scene.join("viewer", 0, VIEW)
    await scene.join("plain", 0, 0)
    await scene.build()
    await scene.outsider()
    await scene.neighbour()
    oracle = Oracle(scene)
    before = await scene.as_it_is()
    for caller in scene.callers:
        if caller.actor is not None:
            await oracle.listen(caller)
        for trial in trials():
            for place in oracle.places(trial, caller):
                await oracle.ask(caller, trial, place)
    oracle.compare(before, await scene.as_it_is())
    for trial in trials():
        await oracle.owner_may(trial)
    (await scene.owner.send_message(scene.open["text"].channel_id, "done")).expect(200)
    for caller in scene.callers:
        if caller.actor is not None:
            await oracle.hear(caller)
    assert not oracle.found, "\n".join(oracle.found)


async def test_a_right_that_asks_for_a_second_factor_does_so_everywhere(
    chat_world: World, autojump_clock: MockClock
) -> None:
    scene = await opened(chat_world)
    await scene.join("without a factor", EVERY_BIT, EVERY_BIT)
    await scene.join("without a factor and no guild", EVERY_BIT & ~Permission.MANAGE_GUILD, EVERY_BIT)
    await scene.build()
    await ask_for_factors(chat_world)
    oracle = Oracle(scene)
    before = await scene.as_it_is()
    for caller in scene.callers:
        for trial in trials():
            for place in oracle.places(trial, caller) if trial.asked not in (None, "sees", "reads") else ():
                await oracle.ask(caller, trial, place)
    oracle.compare(before, await scene.as_it_is())


@pytest.mark.long
async def test_no_single_permission_is_a_way_round(chat_world: World) -> None:
    scene = await opened(chat_world)
    for bit in Permission:
        if bit in (Permission.ADMINISTRATOR, Permission.VIEW_CHANNEL):
            continue
        await scene.join(f"{bit.name} by role", bit, 0)
        await scene.join(f"{bit.name} by overwrite", 0, bit)
        await scene.join(f"{bit.name} by overwrite, seeing", 0, bit | Permission.VIEW_CHANNEL)
    await scene.build()
    oracle = Oracle(scene)
    before = await scene.as_it_is()
    for number, caller in enumerate(scene.callers):
        for step, trial in enumerate(trials()):
            places = list(oracle.places(trial))
            await oracle.ask(caller, trial, places[(number + step) % len(places)])
    oracle.compare(before, await scene.as_it_is())
