"""What others do meanwhile, through the API: people and a bot of the same world."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import quote

from tests.web.person.furnishing import poll, sends_file
from tests.web.person.listening_bot import SAID
from tests.web.person.world import World

Detail = dict[str, Any]

WORDS: Final = (
    "good morning",
    "مساء الخير",
    "\N{SEEDLING}",
    "a **long** answer " * 12,
    "look: https://example.org/",
    "MENTION",
    "@everyone",
    "```js\nconst bed = 1;\n```",
)
EMOJI: Final = ("\N{SEEDLING}", "\N{TOMATO}", "\N{THUMBS UP SIGN}")
TITLES: Final = ("beds", "حديقة", "a name that is long " * 4, "\N{SEEDLING}\N{SEEDLING}")
COLOURS: Final = (0, 0xFFFFFF, 0x000001, 0x2E7D32)
WHO: Final = ("bob", "carol", "bot", "alice")
MENTIONS: Final = re.compile(r"<@[!&]?\d+>|@everyone|@here")
CHANNELS: Final = ("open", "open", "open", "general", "seeds", "long", "arabic", "direct", "group", "forum", "slow")

Do = Callable[[World, Detail, str], Any]


def _chosen(world: World, detail: Detail, channel_id: str) -> dict[str, Any] | None:
    found: list[dict[str, Any]] = world.may(detail["who"], "GET", f"/channels/{channel_id}/messages?limit=12") or []
    return found[detail["nth"] % len(found)] if found else None


def _newest(world: World, detail: Detail, channel_id: str) -> str | None:
    message = _chosen(world, detail, channel_id)
    return message and str(message["id"])


def _of_message(method: str, more: str = "") -> Do:
    def do(world: World, detail: Detail, channel_id: str) -> Any:
        message = _newest(world, detail, channel_id)
        path = f"/channels/{channel_id}/messages/{message}{more.format(emoji=quote(detail['emoji']))}"
        return message and world.may(detail["who"], method, path)

    return do


def _says(world: World, detail: Detail, channel_id: str) -> Any:
    words = f"<@{world.ids['alice']}> do you see?" if detail["words"] == "MENTION" else detail["words"]
    return world.may(detail["who"], "POST", f"/channels/{channel_id}/messages", {"content": words})


def _edits(world: World, detail: Detail, channel_id: str) -> Any:
    """Whom it mentioned it mentions still: of a message from before its session, which it never saw, nothing tells a
    client that an edit took a mention back."""
    message = _chosen(world, detail, channel_id)
    if message is None:
        return None
    words = " ".join([detail["words"], *MENTIONS.findall(message["content"])])
    return world.may(detail["who"], "PATCH", f"/channels/{channel_id}/messages/{message['id']}", {"content": words})


def _answers(world: World, detail: Detail, channel_id: str) -> Any:
    message = _newest(world, detail, channel_id)
    reference = {"message_id": message, "channel_id": channel_id, "type": 0}
    body = {"content": detail["words"], "message_reference": reference}
    return message and world.may(detail["who"], "POST", f"/channels/{channel_id}/messages", body)


def _pins(method: str) -> Do:
    def do(world: World, detail: Detail, channel_id: str) -> Any:
        message = _newest(world, detail, channel_id)
        return message and world.may(detail["who"], method, f"/channels/{channel_id}/pins/{message}")

    return do


def _of_channel(method: str, body: Callable[[Detail], Any] = lambda _: None, more: str = "") -> Do:
    return lambda world, detail, channel_id: world.may(
        "alice" if method != "POST" else detail["who"], method, f"/channels/{channel_id}{more}", body(detail)
    )


def _makes_channel(world: World, detail: Detail, channel_id: str) -> Any:
    kind = (0, 4, 15, 2)[detail["nth"] % 4]
    return world.may("alice", "POST", f"/guilds/{world.guild_id}/channels", {"name": detail["title"], "type": kind})


def _moves_channels(world: World, detail: Detail, channel_id: str) -> Any:
    moves = [{"id": channel_id, "position": detail["nth"]}]
    return world.may("alice", "PATCH", f"/guilds/{world.guild_id}/channels", moves)


def _of_member(body: Callable[[Detail, World], Any]) -> Do:
    def do(world: World, detail: Detail, channel_id: str) -> Any:
        member = f"/guilds/{world.guild_id}/members/{world.ids[detail['whom']]}"
        return world.may("alice", "PATCH", member, body(detail, world))

    return do


def _roles(detail: Detail, world: World) -> Any:
    return {"roles": [list(world.roles.values())[at] for at in range(detail["nth"] % 3) if at < len(world.roles)]}


def _role(world: World, detail: Detail, channel_id: str) -> Any:
    role = list(world.roles.values())[detail["nth"] % len(world.roles)]
    change = {"color": COLOURS[detail["nth"] % 4], "name": detail["title"][:90], "hoist": detail["nth"] % 2 == 0}
    return world.may("alice", "PATCH", f"/guilds/{world.guild_id}/roles/{role}", change)


def _leaves(world: World, detail: Detail, channel_id: str) -> Any:
    return world.may("carol", "DELETE", f"/users/@me/guilds/{world.guild_id}")


def _joins(world: World, detail: Detail, channel_id: str) -> Any:
    invite = world.may("alice", "POST", f"/channels/{world.channels['general']}/invites", {"max_age": 0})
    return invite and world.may("carol", "POST", f"/invites/{invite['code']}", {})


def _renames_self(world: World, detail: Detail, channel_id: str) -> Any:
    return world.may(detail["whom"], "PATCH", "/users/@me", {"global_name": detail["title"][:32]})


def _renames_guild(world: World, detail: Detail, channel_id: str) -> Any:
    return world.may("alice", "PATCH", f"/guilds/{world.guild_id}", {"name": detail["title"][:90]})


def _thread(world: World, detail: Detail, channel_id: str) -> Any:
    message = _newest(world, detail, channel_id)
    path = f"/channels/{channel_id}/messages/{message}/threads"
    return message and world.may(detail["who"], "POST", path, {"name": detail["title"][:90]})


def _friend(world: World, detail: Detail, channel_id: str) -> Any:
    path = f"/users/@me/relationships/{world.ids['alice']}"
    return world.may("carol", "DELETE" if detail["nth"] % 2 else "POST", path)


def _status(world: World, detail: Detail, channel_id: str) -> Any:
    status = ("online", "idle", "dnd", "invisible")[detail["nth"] % 4]
    return world.may(detail["whom"], "PATCH", "/users/@me/settings", {"status": status})


def _asks(world: World, detail: Detail, channel_id: str) -> Any:
    body = poll(detail["title"], "green", "black", "حديقة", several=detail["nth"] % 2 == 0)
    return world.may(detail["who"], "POST", f"/channels/{channel_id}/messages", body)


def _votes(world: World, detail: Detail, channel_id: str) -> Any:
    """In the newest poll of the channel; every third time it is a vote that is taken back, or the end."""
    found = world.may(detail["who"], "GET", f"/channels/{channel_id}/messages?limit=50") or []
    asked = next((one for one in found if one.get("poll")), None)
    if asked is None:
        return None
    of_poll = f"/channels/{channel_id}/polls/{asked['id']}"
    if detail["nth"] == 9:
        return world.may("alice", "POST", f"{of_poll}/expire")
    answers = [] if detail["nth"] % 3 == 0 else [str(1 + detail["nth"] % 2)]
    return world.may(detail["who"], "PUT", f"{of_poll}/answers/@me", {"answer_ids": answers})


def _bot_says(world: World, detail: Detail, channel_id: str) -> Any:
    return world.may("bot", "POST", f"/channels/{channel_id}/messages", SAID[detail["nth"] % len(SAID)])


def _sends_file(world: World, detail: Detail, channel_id: str) -> Any:
    with suppress(HTTPError):
        sends_file(world, detail["who"], channel_id, f"{detail['title']}.txt", detail["words"].encode())


def _time_out(detail: Detail, world: World) -> Any:
    until = datetime.now(UTC) + timedelta(minutes=10)
    return {"communication_disabled_until": until.isoformat() if detail["nth"] % 2 else None}


# What it is, how it is told, how often among the others, what does it.
TABLE: Final[dict[str, tuple[str, int, Do]]] = {
    "says": ("{who} says {words!r} in {channel}", 12, _says),
    "answers": ("{who} answers message {nth} of {channel}", 3, _answers),
    "edits": ("{who} edits message {nth} of {channel}", 3, _edits),
    "deletes": ("alice's program deletes message {nth} of {channel}", 4, _of_message("DELETE")),
    "reacts": ("{who} reacts {emoji} to message {nth} of {channel}", 6, _of_message("PUT", "/reactions/{emoji}/@me")),
    "unreacts": ("{who} takes {emoji} back", 3, _of_message("DELETE", "/reactions/{emoji}/@me")),
    "clears": ("{who} removes all reactions", 1, _of_message("DELETE", "/reactions")),
    "pins": ("{who} pins message {nth} of {channel}", 2, _pins("PUT")),
    "unpins": ("{who} unpins message {nth} of {channel}", 1, _pins("DELETE")),
    "types": ("{who} is typing in {channel}", 3, _of_channel("POST", more="/typing")),
    "renames": ("channel {channel} is renamed {title!r}", 2, _of_channel("PATCH", lambda d: {"name": d["title"][:90]})),
    "topic": ("{channel} gets a topic", 1, _of_channel("PATCH", lambda d: {"topic": d["words"] * 3})),
    "drops": ("channel {channel} is deleted", 1, _of_channel("DELETE")),
    "channel": ("a channel {title!r} is made", 2, _makes_channel),
    "moves": ("channel {channel} is moved", 1, _moves_channels),
    "nick": ("{whom} is called {title!r} here", 2, _of_member(lambda d, _: {"nick": d["title"][:32]})),
    "roles": ("{whom} gets other roles", 2, _of_member(_roles)),
    "role": ("a role is changed", 2, _role),
    "leaves": ("carol leaves the community", 1, _leaves),
    "joins": ("carol comes back", 2, _joins),
    "name": ("{whom} is called {title!r} everywhere", 2, _renames_self),
    "guild": ("the community is called {title!r}", 1, _renames_guild),
    "thread": ("{who} starts a thread in {channel}", 2, _thread),
    "friend": ("carol asks for friendship or takes it back", 1, _friend),
    "status": ("{whom} chooses another status", 2, _status),
    "asks": ("{who} asks {title!r} in {channel}", 2, _asks),
    "votes": ("{who} votes in {channel}", 4, _votes),
    "bot": ("the bot says something in {channel}", 2, _bot_says),
    "file": ("{who} sends a file to {channel}", 2, _sends_file),
    "gate": ("{channel} is for adults, or no longer", 1, _of_channel("PATCH", lambda d: {"nsfw": d["nth"] % 2 == 0})),
    "slow": ("{channel} becomes slow", 1, _of_channel("PATCH", lambda d: {"rate_limit_per_user": d["nth"] * 3})),
    "quiet": ("{whom} may not speak for a while", 2, _of_member(_time_out)),
}


def drawn(chance: random.Random) -> Detail:
    """Something that somebody else does."""
    [what] = chance.choices(list(TABLE), [weight for _, weight, _ in TABLE.values()])
    return {
        "what": what,
        "who": chance.choice(WHO),
        "whom": chance.choice(WHO[:2] + WHO[3:]),
        "channel": chance.choice(CHANNELS),
        "nth": chance.randrange(10),
        "words": chance.choice(WORDS),
        "emoji": chance.choice(EMOJI),
        "title": chance.choice(TITLES),
    }


def sentence(detail: Detail) -> str:
    """What it is, in words."""
    return "meanwhile " + TABLE[detail["what"]][0].format(**detail)


def done(world: World, detail: Detail, open_channel: str | None) -> None:
    """Do it; what the server refuses has not happened."""
    if detail["who"] not in world.tokens:
        return
    channel = world.channels.get(detail["channel"])
    if detail["channel"] == "open":
        channel = open_channel
    if channel is not None:
        TABLE[detail["what"]][2](world, detail, channel)
