"""What a bot is shown at the mount in a world where a little of everything happens: its Dispatches, and the objects
that it asks for."""

from __future__ import annotations

from typing import Any, Final

import trio

from chat.compat.discord.intents import HEARD
from chat.registries.events import EventName
from chat.testing.world import World
from tests.compat.mounted import REST, connected
from tests.interactions.acting import act, register
from tests.webhooks.surfaces import data_uri, png

SETTLING_SECONDS: Final = 1.0
"""Virtual seconds after which what was caused has arrived."""

NOT_CAUSED: Final = frozenset(
    {
        EventName.GUILD_ROLE_UPDATE_BULK,  # comes as single updates, like the next two
        EventName.CHANNEL_UPDATE_BULK,
        EventName.PRESENCE_UPDATE_BULK,
        EventName.PRESENCE_UPDATE,  # is told in rounds of minutes
        EventName.RATE_LIMITED,  # no library of that family knows it
        EventName.USER_UPDATE,  # of the bot's own account, which its owner changes
        EventName.THREAD_LIST_SYNC,  # of a bot that begins to see a channel
        EventName.THREAD_MEMBER_UPDATE,  # of a bot that joins a thread
    }
)

BUTTON: Final = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Go", "custom_id": "go"}]}
MENUS: Final = [
    {"type": 1, "components": [{"type": kind, "custom_id": f"menu {kind}", "placeholder": "Choose"}]}
    for kind in (5, 6, 7, 8)
]
SECOND_FORM: Final = [
    {
        "type": 17,
        "accent_color": 255,
        "components": [
            {"type": 10, "content": "text"},
            {
                "type": 9,
                "components": [{"type": 10, "content": "beside"}],
                "accessory": {"type": 11, "media": {"url": "https://example.com/a.png"}},
            },
            {"type": 12, "items": [{"media": {"url": "https://example.com/b.png"}}]},
            {"type": 14},
        ],
    }
]
EMBED: Final = {
    "title": "t",
    "description": "d",
    "url": "https://example.com/",
    "color": 255,
    "timestamp": "2026-01-01T00:00:00.000Z",
    "footer": {"text": "f"},
    "author": {"name": "a"},
    "fields": [{"name": "n", "value": "v", "inline": True}],
    "image": {"url": "https://example.com/c.png"},
}
POLL: Final = {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "yes"}}, {"poll_media": {"text": "no"}}]}


class Recorder:
    """Does things in the world, and takes down what the bot is shown. `ids` are of what was made, by name."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ids: dict[str, str] = {}
        self.guild = f"/guilds/{world.guild_id}"
        self.channel = f"/channels/{world.channel_id}"

    async def recorded(self) -> dict[str, Any]:
        """`events` as pairs of name and data, in order; `objects` by method and path below the mount; `ids`."""
        world = self.world
        bot = {"permissions": "8", "name": "All"}
        role = (await world.alice.rest.post(f"/v1{self.guild}/roles", bot)).expect(200)["id"]
        (await world.alice.rest.put(f"/v1{self.guild}/members/{world.bot.id}/roles/{role}")).expect(204)
        self.ids |= {"role": role, "guild": world.guild_id, "channel": world.channel_id, "bob": world.bob.id}
        self.ids |= {"bot": world.bot.id, "application": world.bot.application_id, "alice": world.alice.id}
        at_bot = await connected(world.bot)
        for step in (self._people, self._guild, self._messages, self._threads, self._interactions):
            await step()
            await trio.sleep(SETTLING_SECONDS)
        await at_bot.request_members(world.guild_id)
        await trio.sleep(SETTLING_SECONDS)
        objects = {path: (await world.bot.rest.get(f"{REST}{path}")).expect(200) for path in self._paths()}
        await self._ends()
        await trio.sleep(SETTLING_SECONDS)
        events = [[payload.name, payload.data] for payload in at_bot.dispatches]
        missing = {str(name) for name in HEARD.keys() - NOT_CAUSED} - {name for name, _ in events}
        assert not missing, f"cause {sorted(missing)} in tests/compat/recorded_mount.py, or name it in NOT_CAUSED"
        return {"events": events, "objects": objects, "ids": self.ids}

    async def _people(self) -> None:
        alice, bob, world = self.world.alice, self.world.bob, self.world
        at_bob = await bob.connect()
        await at_bob.update_presence("idle")
        await bob.rest.start_typing(world.channel_id)
        state = {"guild_id": world.guild_id, "channel_id": world.voice_channel_id, "mutation_id": "m"}
        await at_bob.send(4, state)
        nick = {"nick": "Robert"}
        (await alice.rest.patch(f"/v1{self.guild}/members/{bob.id}", nick)).expect(200)
        invite = (await alice.rest.create_channel_invite(world.channel_id, max_age=3600)).expect(200)
        self.ids["invite"] = invite["code"]
        (await alice.rest.delete(f"/v1{self.guild}/members/{world.carol.id}")).expect(204)
        (await world.carol.rest.accept_invite(invite["code"])).expect(200)
        (await alice.rest.put(f"/v1{self.guild}/bans/{world.carol.id}", {"reason": "r"})).expect(204)
        self.ids["carol"] = world.carol.id

    async def _guild(self) -> None:
        alice, world = self.world.alice.rest, self.world
        (await alice.patch(f"/v1{self.guild}", {"name": "renamed", "system_channel_id": world.channel_id})).expect(200)
        made = (await alice.post(f"/v1{self.guild}/roles", {"name": "one", "color": 255, "hoist": True})).expect(200)
        (await alice.patch(f"/v1{self.guild}/roles/{made['id']}", {"name": "two", "mentionable": True})).expect(200)
        for kind in ("emojis", "stickers"):
            body = {"name": "wave", "image": data_uri(png())}
            self.ids[kind[:-1]] = (await alice.post(f"/v1{self.guild}/{kind}", body)).expect(200)["id"]
        category = (await alice.create_channel(world.guild_id, "parent", type=4)).expect(200)["id"]
        for name, kind in (("text", 0), ("voice", 2), ("news", 5), ("forum", 15)):
            answer = await alice.create_channel(world.guild_id, name, type=kind, parent_id=category)
            if answer.status < 300:
                self.ids[name] = answer.json()["id"]
        overwrite = f"/v1/channels/{self.ids['text']}/permissions/{made['id']}"
        (await alice.put(overwrite, {"type": 0, "allow": "1024", "deny": "2048"})).expect(204)
        (await alice.change_channel(self.ids["text"], topic="news", rate_limit_per_user=5)).expect(200)
        hook = (await alice.create_webhook(world.channel_id, "hook")).expect(200)
        self.ids["webhook"] = hook["id"]
        self.ids["webhook token"] = hook["token"]

    async def _messages(self) -> None:
        world, channel_id = self.world, self.world.channel_id
        alice, bob, bot = world.alice.rest, world.bob.rest, world.bot.rest
        said = (await alice.send_message(channel_id, f"<@{world.bot.id}> <#{channel_id}> hello")).expect(200)
        self.ids["message"] = said["id"]
        (await alice.edit_message(channel_id, said["id"], f"<@{world.bot.id}> hello again")).expect(200)
        (await bob.react(channel_id, said["id"], "👍")).expect(204)
        (await alice.react(channel_id, said["id"], f"wave:{self.ids['emoji']}")).expect(204)
        (await alice.take_reaction(channel_id, said["id"], f"wave:{self.ids['emoji']}")).expect(204)
        (await alice.pin_message(channel_id, said["id"])).expect(204)
        reply = {"message_reference": {"channel_id": channel_id, "message_id": said["id"]}}
        (await bob.send_message(channel_id, "a reply", **reply)).expect(200)
        (await alice.send_files(channel_id, {"cat.png": png()}, content="a file")).expect(200)
        sticker = {"sticker_ids": [self.ids["sticker"]]}
        (await alice.send_message(channel_id, "", **sticker)).expect(200)
        forward = {"message_reference": {"type": 1, "channel_id": channel_id, "message_id": said["id"]}}
        (await alice.post(f"/v1/channels/{channel_id}/messages", forward)).expect(200)
        for body in (
            {"content": "shown", "embeds": [EMBED], "components": [BUTTON, *MENUS]},
            {"flags": 1 << 15, "components": SECOND_FORM},
        ):
            (await bot.post(f"{REST}{self.channel}/messages", body)).expect(200)
        asked = (await bot.post(f"{REST}{self.channel}/messages", {"poll": POLL})).expect(200)
        self.ids["poll"] = asked["id"]
        for answers in (["1"], []):
            vote = f"/v1/channels/{channel_id}/polls/{asked['id']}/answers/@me"
            (await bob.put(vote, {"answer_ids": answers})).expect(204)
        (await bot.post(f"/v1/channels/{channel_id}/polls/{asked['id']}/expire")).expect(200)
        hook = f"{REST}/webhooks/{self.ids['webhook']}/{self.ids['webhook token']}"
        (await world.anyone.post(f"{hook}?wait=true", {"content": "by a webhook", "username": "Hook"})).expect(200)
        private = (await bob.open_conversation(world.bot.id)).expect(200)["id"]
        self.ids["private"] = private
        between = (await bob.send_message(private, "between us")).expect(200)
        (await bob.edit_message(private, between["id"], "between us two")).expect(200)
        (await bob.react(private, between["id"], "👍")).expect(204)

    async def _threads(self) -> None:
        alice, channel_id = self.world.alice.rest, self.world.channel_id
        alice.headers["X-Service-Features"] = "channel_threads"
        made = (await alice.start_thread(channel_id, "aside")).expect(201)
        self.ids["thread"] = made["id"]
        (await alice.send_message(made["id"], "in it")).expect(200)
        (await alice.change_channel(made["id"], name="an aside", rate_limit_per_user=5)).expect(200)
        (await self.world.bob.rest.send_message(made["id"], "me too")).expect(200)
        if "forum" in self.ids:
            post = {"name": "how?", "message": {"content": "like this"}}
            (await alice.post(f"/v1/channels/{self.ids['forum']}/threads", post)).expect(201)

    async def _interactions(self) -> None:
        world = self.world
        option = {"type": 3, "name": "x", "description": "d", "autocomplete": True}
        who = [{"type": kind, "name": f"o{kind}", "description": "d"} for kind in (4, 5, 6, 7, 8, 9, 10)]
        [find, look] = await register(
            world,
            {"name": "find", "description": "d", "options": [option, *who]},
            {"name": "Look at", "type": 2},
        )
        values: dict[int, Any] = {4: 1, 5: True, 6: world.alice.id, 7: world.channel_id, 8: self.ids["role"]}
        values |= {9: world.alice.id, 10: 1.5}
        options = [{"name": f"o{kind}", "value": value} for kind, value in values.items()]
        written = {"id": find["id"], "options": [{"name": "x", "value": "a"}, *options]}
        typed = {"id": find["id"], "options": [{"name": "x", "value": "a", "focused": True}]}
        for kind, data in ((2, written), (4, typed), (2, {"id": look["id"], "target_id": world.alice.id})):
            (await act(world.bob, world, kind, data)).expect(204)
        sent = (await world.bot.rest.post(f"/v1{self.channel}/messages", {"components": [BUTTON]})).expect(200)
        (await act(world.bob, world, 3, {"custom_id": "go"}, message_id=sent["id"])).expect(204)

    def _paths(self) -> list[str]:
        """What the bot asks for."""
        ids = self.ids
        messages = f"{self.channel}/messages"
        return [
            *(f"/users/{name}" for name in ("@me", ids["bob"])),
            "/users/@me/guilds?with_counts=true",
            "/oauth2/applications/@me",
            "/applications/@me",
            f"/applications/{ids['application']}/commands",
            self.guild,
            f"{self.guild}?with_counts=true",
            *(
                f"{self.guild}/{more}"
                for more in (
                    "preview", "channels", "roles", "emojis", "stickers", "bans", "invites", "webhooks", "audit-logs",
                    "members?limit=100", f"members/{ids['bob']}", f"bans/{ids['carol']}", f"roles/{ids['role']}",
                    f"emojis/{ids['emoji']}", f"stickers/{ids['sticker']}", "threads/active", "members/search?query=b",
                    "auto-moderation/rules", "scheduled-events", "integrations",
                )
            ),
            *(f"/channels/{ids[name]}" for name in ("channel", "text", "voice", "thread", "private", "news", "forum")
              if name in ids),
            f"{messages}?limit=50",
            f"{messages}/{ids['message']}",
            f"{messages}/pins",
            f"{self.channel}/pins",
            f"{self.channel}/webhooks",
            f"{self.channel}/invites",
            f"{messages}/{ids['message']}/reactions/%F0%9F%91%8D",
            f"/channels/{ids['thread']}/thread-members",
            f"/invites/{ids['invite']}?with_counts=true",
            f"/webhooks/{ids['webhook']}",
        ]  # fmt: skip

    async def _ends(self) -> None:
        """What takes away, after the bot has asked."""
        alice, channel_id = self.world.alice.rest, self.world.channel_id
        said = self.ids["message"]
        (await alice.take_reactions(channel_id, said, "👍")).expect(204)
        (await self.world.bob.rest.react(channel_id, said, "\N{THUMBS UP SIGN}")).expect(204)
        (await alice.take_reactions(channel_id, said)).expect(204)
        for ids in ([said], [(await alice.send_message(channel_id, f"{n}")).expect(200)["id"] for n in range(2)]):
            if len(ids) == 1:
                (await alice.delete_message(channel_id, said)).expect(204)
            else:
                (await alice.bulk_delete_messages(channel_id, ids)).expect(204)
        (await alice.delete(f"/v1/channels/{self.ids['thread']}")).expect(204)
        (await alice.delete(f"/v1/channels/{self.ids['text']}")).expect(204)
        (await alice.delete(f"/v1/invites/{self.ids['invite']}")).expect(204)
        (await alice.delete(f"/v1{self.guild}/bans/{self.world.carol.id}")).expect(204)
        role = (await alice.post(f"/v1{self.guild}/roles", {"name": "short"})).expect(200)["id"]
        (await alice.delete(f"/v1{self.guild}/roles/{role}")).expect(204)
        (await alice.delete(f"/v1{self.guild}/members/{self.world.bot.id}")).expect(204)
