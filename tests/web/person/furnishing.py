"""What lies in the world beside plain talk: polls, files, emoji and stickers of its own, a gate, messages of later,
reminders, forwards, a post of an announcement, people of an import."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.imports.discord_world import ANNA, BERT, channel, channel_id, export, message, put
from tests.webhooks.surfaces import FORM_HEADERS, form

if TYPE_CHECKING:
    from tests.web.person.world import World

FILES: Final = (
    ("leaf.png", "picture"),
    ("a plan of all beds " + "with a long name " * 8 + ".txt", "north: kale\nsouth: leeks\n"),
)
LONG_QUESTION: Final = "Which of these <b>beds</b> " + "and of those that lie beside them " * 6 + "?"


def poll(question: str, *answers: str, several: bool = False) -> dict[str, Any]:
    """The body of a message that asks this."""
    media: list[dict[str, Any]] = [{"poll_media": {"text": one}} for one in answers]
    media[0]["poll_media"]["emoji"] = {"name": "\N{SEEDLING}"}
    return {"poll": {"question": {"text": question}, "answers": media, "allow_multiselect": several, "duration": 24}}


def furnish(world: World, picture: str, picture_bytes: bytes) -> None:
    """Everything of the list above; `picture` is a data address of `picture_bytes`."""
    _expressions(world, picture)
    _gate(world)
    _old_names(world)
    general, seeds, news = (world.channels[key] for key in ("general", "seeds", "news"))
    for place in (general, seeds):
        asked = world.call("bob", "POST", f"/channels/{place}/messages", poll("Which tea?", "green", "black"))
        world.call("carol", "PUT", f"/channels/{place}/polls/{asked['id']}/answers/@me", {"answer_ids": ["1"]})
    world.call("alice", "POST", f"/channels/{seeds}/messages", poll(LONG_QUESTION, "x" * 55, "y", several=True))
    for name, content in FILES:
        data = picture_bytes if content == "picture" else content.encode()
        sends_file(world, "bob", general, name, data)
    posted = world.call("alice", "POST", f"/channels/{news}/messages", {"content": "The **gate** is open."})
    world.may("alice", "POST", f"/channels/{news}/messages/{posted['id']}/crosspost")
    last = world.call("bob", "GET", f"/channels/{seeds}/messages?limit=1")[0]["id"]
    reference = {"type": 1, "message_id": posted["id"], "channel_id": news, "guild_id": world.guild_id}
    world.call("alice", "POST", f"/channels/{seeds}/messages", {"message_reference": reference})
    _later(world, seeds, last)


def _expressions(world: World, picture: str) -> None:
    for kind, more in (("emojis", {}), ("stickers", {"description": "a leaf", "tags": ["leaf"]})):
        made = world.call(
            "alice", "POST", f"/guilds/{world.guild_id}/{kind}", {"name": "leaf", "image": picture, **more}
        )
        said = {"content": f"<:leaf:{made['id']}>"} if kind == "emojis" else {"sticker_ids": [made["id"]]}
        world.call("bob", "POST", f"/channels/{world.channels['general']}/messages", said)


def _gate(world: World) -> None:
    made = {"name": "adults", "type": 0, "nsfw": True}
    world.channels["adults"] = world.call("alice", "POST", f"/guilds/{world.guild_id}/channels", made)["id"]
    world.says("bob", world.channels["adults"], "not for children")


def _later(world: World, channel_id: str, message_id: str) -> None:
    for who in ("alice", "bob"):
        for days in (1, 9):
            moment = datetime.now(UTC) + timedelta(days=days)
            local = {"scheduled_local_at": moment.strftime("%Y-%m-%dT%H:%M:%S"), "timezone": "Etc/UTC"}
            path = f"/channels/{channel_id}/messages/schedule"
            world.call(who, "POST", path, {"content": f"in **{days}** days", **local})
        due = (datetime.now(UTC) + timedelta(days=2)).isoformat()
        world.call(who, "PUT", f"/users/@me/reminders/{message_id}", {"channel_id": channel_id, "remind_at": due})


def _old_names(world: World) -> None:
    said = [message(at, f"old {at}", ANNA if at % 2 else BERT) for at in range(1, 20)]
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder), "a.json", export(channel(1, "harbour"), *said))
        command = (sys.executable, "-m", "chat", "import", "discord", folder, "--guild", world.guild_id, "--json")
        subprocess.run([*command, "--data", world.home.folder], check=True, capture_output=True)
    world.channels["harbour"] = str(channel_id(1))


def sends_file(world: World, who: str, place: str, name: str, data: bytes) -> None:
    """A message with one file."""
    payload = json.dumps({"content": "", "attachments": [{"id": 0, "filename": name, "description": "of the club"}]})
    request = urllib.request.Request(
        f"http://127.0.0.1:{world.home.port}/v1/channels/{place}/messages",
        form([("files[0]", name, data)], payload.encode()),
        {**FORM_HEADERS, "Authorization": world.tokens[who]},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        answer.read()
