"""The world that a PersonMachine lives in: two communities, people with names of every sort, a bot that answers,
conversations; made once on a `chat dev`, and put back before each example."""

from __future__ import annotations

import base64
import io
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import quote

from PIL import Image

from tests.web.browsing import Instance
from tests.web.person.furnishing import furnish
from tests.web.person.listening_bot import SAID, ListeningBot

SNAPSHOT: Final = "person"
THREADS: Final = {"X-Service-Features": "channel_threads"}
LONG_NAME: Final = "a-channel-whose-name-is-as-long-as-the-server-lets-anybody-make-one-for-any-reason-whatsoever"
NAMES: Final = {
    "alice": "Alice",
    "bob": "Bartholomäus Wolkenstein-Überall",
    "carol": "كارول من الحديقة",
}
TALK: Final = (
    "Who has **tomato seed** for the `north` bed?",
    "مرحبا بالجميع في الحديقة",
    "\N{SEEDLING}\N{SEEDLING}\N{SEEDLING}",
    "one line\nand a second line\n> and what was quoted",
    "```py\nfor bed in beds:\n    bed.water(litres=12)\n```",
    "||the answer is under here|| and a list:\n- leeks\n- beans\n  - runner beans\n1. first",
    "https://example.org/a/very/long/address/" + "that-does-not-end-" * 12,
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 3,
    "# A heading\nand text below it with *emphasis*, __underline__, ~~strike~~",
)


def picture() -> bytes:
    """A small picture."""
    target = io.BytesIO()
    Image.new("RGB", (96, 96), (60, 130, 80)).save(target, "PNG")
    return target.getvalue()


def picture_address() -> str:
    """The same as a data address."""
    return "data:image/png;base64," + base64.b64encode(picture()).decode()


class World:
    """Ids of what was made; `call` speaks as one of the people, by name."""

    def __init__(self, home: Instance) -> None:
        self.home: Final = home
        self.tokens: Final = {name: home.person(name)["token"] for name in ("alice", "bob", "carol")}
        self.tokens["bot"] = "Bot " + home.world["bot"]["token"]
        self.ids: Final = {name: str(home.person(name)["id"]) for name in ("alice", "bob", "carol")}
        self.ids["bot"] = str(home.world["bot"]["user_id"])
        self.passwords: Final = {name: home.person(name)["password"] for name in ("alice", "bob", "carol")}
        self.guild_id = self.other_id = ""
        self.channels: Final[dict[str, str]] = {}
        self.roles: Final[dict[str, str]] = {}
        self.bot: Final = ListeningBot(
            self.call, home.world["base_url"], self.tokens["bot"], home.world["bot"]["application_id"]
        )
        self._make()
        home.call("PUT", f"/v1/_dev/snapshots/{SNAPSHOT}", {})

    def call(self, who: str, method: str, path: str, body: object = None) -> Any:
        """A request of somebody's program."""
        return self.home.call(method, f"/v1{path}", body, self.tokens[who], **THREADS)

    def may(self, who: str, method: str, path: str, body: object = None) -> Any:
        """The same where a refusal is an answer, too: None."""
        try:
            return self.call(who, method, path, body)
        except HTTPError:
            return None

    def put_back(self) -> None:
        """Everything is as it was made."""
        self.home.call("POST", f"/v1/_dev/snapshots/{SNAPSHOT}/restore", {})
        self.bot.comes()

    # How it is made

    def _make(self) -> None:
        for name, shown in NAMES.items():
            self.call(name, "PATCH", "/users/@me", {"global_name": shown})
        self.call("alice", "PATCH", "/users/@me", {"avatar": picture_address()})
        self.guild_id = self._guild("Plots & <b>beds</b> of the garden club at the river", ("bob", "carol"))
        self.other_id = self._guild("نادي الحديقة", ("bob",))
        crowd = {"user_id": self.ids["alice"], "count": 1, "channels": 2, "members": 130}
        [crowded] = self.home.call("POST", "/v1/_dev/guilds/bulk", crowd)["guild_ids"]
        self.call("alice", "PATCH", f"/guilds/{crowded}", {"name": "The whole town"})
        for channel in self._channels_of(crowded):
            self.call("alice", "PATCH", f"/channels/{channel['id']}", {"name": f"town {channel['position']}"})
        self._bot()
        self._channels()
        self._people()
        self._talk()
        furnish(self, picture_address(), picture())
        self.bot.registers()
        for body in SAID:
            self.call("bot", "POST", f"/channels/{self.channels['general']}/messages", body)

    def _guild(self, name: str, others: tuple[str, ...]) -> str:
        guild = self.call("alice", "POST", "/guilds", {"name": name})
        first = next(one for one in self._channels_of(guild["id"]) if one["type"] == 0)
        invite = self.call("alice", "POST", f"/channels/{first['id']}/invites", {})
        for other in others:
            self.call(other, "POST", f"/invites/{invite['code']}", {})
        self.channels.setdefault("general", first["id"])
        return str(guild["id"])

    def _channels_of(self, guild_id: str) -> list[dict[str, Any]]:
        channels: list[dict[str, Any]] = self.call("alice", "GET", f"/guilds/{guild_id}/channels")
        return channels

    def _bot(self) -> None:
        body = {"client_id": self.ids["bot"], "guild_id": self.guild_id, "permissions": "0", "scope": "bot"}
        self.call("alice", "POST", "/oauth2/authorize/consent", {**body, "response_type": "code"})

    def _channel(self, key: str, **body: Any) -> str:
        made = self.call("alice", "POST", f"/guilds/{self.guild_id}/channels", body)
        self.channels[key] = made["id"]
        return str(made["id"])

    def _channels(self) -> None:
        plots = self._channel("plots", name="PLOTS " + LONG_NAME.replace("-", " "), type=4)
        topic = "What is sown when, and by whom; see also " + "https://example.org/calendar " * 3
        self._channel("seeds", name="seeds", type=0, parent_id=plots, topic=topic)
        self._channel("long", name=LONG_NAME, type=0, parent_id=plots)
        self._channel("arabic", name="حديقة", type=0)
        self._channel("news", name="news", type=5)
        self._channel("forum", name="questions", type=15)
        self._channel("voice", name="shed", type=2)
        self._channel("slow", name="slow", type=0, rate_limit_per_user=600)
        everyone = {"type": 0, "allow": "0", "deny": str(1 << 11)}
        self.call("alice", "PUT", f"/channels/{self.channels['news']}/permissions/{self.guild_id}", everyone)

    def _people(self) -> None:
        for key, colour, name in (
            ("gardener", 0x2E7D32, "gardener"),
            ("mod", 0xB71C1C, "Moderation of the whole club"),
        ):
            permissions = str((1 << 13) | (1 << 27) | (1 << 1) | (1 << 2)) if key == "mod" else "0"
            role = {"name": name, "color": colour, "hoist": True, "permissions": permissions}
            self.roles[key] = self.call("alice", "POST", f"/guilds/{self.guild_id}/roles", role)["id"]
        members = f"/guilds/{self.guild_id}/members"
        body: dict[str, Any] = {"nick": "Bob of the long northern beds", "roles": [self.roles["mod"]]}
        self.call("alice", "PATCH", f"{members}/{self.ids['bob']}", body)
        self.call("alice", "PATCH", f"{members}/{self.ids['carol']}", {"roles": [self.roles["gardener"]]})
        self.call("bob", "POST", f"/users/@me/relationships/{self.ids['alice']}")
        self.call("alice", "PUT", f"/users/@me/relationships/{self.ids['bob']}", {})
        self.call("carol", "POST", f"/users/@me/relationships/{self.ids['alice']}")
        self.call("carol", "POST", f"/users/@me/relationships/{self.ids['bob']}")
        self.call("bob", "PUT", f"/users/@me/relationships/{self.ids['carol']}", {})

    def _talk(self) -> None:
        general, seeds = self.channels["general"], self.channels["seeds"]
        ids = [self.says(("bob", "carol", "alice")[at % 3], general, text) for at, text in enumerate(TALK * 8)]
        first = ids[-9]
        for who, emoji in (("bob", "\N{SEEDLING}"), ("carol", "\N{SEEDLING}"), ("bob", "\N{TOMATO}")):
            self.call(who, "PUT", f"/channels/{general}/messages/{first}/reactions/{quote(emoji)}/@me")
        self.call("alice", "PUT", f"/channels/{general}/pins/{first}")
        reference = {"message_id": first, "channel_id": general, "type": 0}
        answer = {"content": f"I have some, <@{self.ids['alice']}>", "message_reference": reference}
        self.call("carol", "POST", f"/channels/{general}/messages", answer)
        self.call("alice", "POST", f"/channels/{general}/messages/{ids[-4]}/threads", {"name": "About **leeks** " * 5})
        for at in range(3):
            self.says("bob", seeds, f"seed {at}, <@{self.ids['alice']}>")
        self.says("carol", self.channels["long"], "in the long one")
        for at in range(6):
            post = {"name": f"question {at} " + "about beds " * at, "message": {"content": "How do I **start**?"}}
            self.call("bob", "POST", f"/channels/{self.channels['forum']}/threads", post)
        for name, body in (
            ("direct", {"recipient_id": self.ids["alice"]}),
            ("group", {"recipients": [self.ids["alice"], self.ids["carol"]]}),
        ):
            self.channels[name] = self.call("bob", "POST", "/users/@me/channels", body)["id"]
            self.says("bob", self.channels[name], f"hello in the {name}")

    def says(self, who: str, channel_id: str, text: str) -> str:
        """The id of a new message."""
        return str(self.call(who, "POST", f"/channels/{channel_id}/messages", {"content": text})["id"])
