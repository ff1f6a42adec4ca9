"""A seeded world with something of everything in it, and where each is, for `tests.openapi.real_ids`."""

from __future__ import annotations

import base64
from collections import defaultdict
from typing import Any, Final

from chat.testing import RestClient
from tests.durability.server_process import ServerProcess
from tests.image_samples import written
from tests.webhooks.surfaces import form, png, post_form

DOOMED: Final = 3
"""How many objects of each kind are there to be deleted."""

IMAGE: Final = "data:image/png;base64," + base64.b64encode(written("PNG")).decode()

EVERY_PERMISSION: Final = str(1 << 3)
"""ADMINISTRATOR."""

Ids = dict[str, dict[str, list[str]]]


async def furnish(server: ServerProcess) -> Ids:
    """Make things; their ids by kind (`known`, `doomed`) and by the name that a path or a body has for them."""
    world, alice = server.world, server.alice
    ids: Ids = {"known": defaultdict(list), "doomed": defaultdict(list)}
    guild_id, channel_id, bot_id = world["guild_id"], world["channel_id"], world["bot"]["user_id"]
    people = [user["id"] for user in world["users"]]
    known = ids["known"]
    known |= {
        "guild_id": [guild_id],
        "channel_id": [channel_id, channel_id, world["voice_channel_id"]],
        "application_id": [world["bot"]["application_id"]],
        "client_id": [world["bot"]["application_id"]],
        "user_id": [*people, bot_id],
        "target_user_id": people,
        "recipient_id": people[1:],
    }
    conversation = await made(alice, "/v1/users/@me/channels", recipient_id=people[1])
    known["channel_id"].append(conversation["id"])
    for kind in ["known", *["doomed"] * DOOMED]:
        for name, path, body in things(guild_id, channel_id):
            thing = await made(alice, path, **body)
            ids[kind][name].append(thing.get("id") or thing["code"])
            if name == "webhook_id":
                ids[kind]["token"].append(thing["token"])
    for number, kind in enumerate(["known", *["doomed"] * DOOMED]):  # the same file is a favourite once
        picture = ("files[0]", "a.png", png(width=3 + number))
        shown = await post_form(alice, f"/v1/channels/{channel_id}/messages", form([picture]))
        meme = await made(alice, f"/v1/channels/{channel_id}/messages/{shown.expect(200)['id']}/memes")
        ids[kind]["meme_id"].append(meme["id"])
        ids[kind]["favorite_meme_id"].append(meme["id"])
    (await alice.save_message(channel_id, known["message_id"][0])).expect(204)
    known["channel_id"].append(known["forum_id"][0])
    role = await made(alice, f"/v1/guilds/{guild_id}/roles", name="all", permissions=EVERY_PERMISSION)
    (await alice.put(f"/v1/guilds/{guild_id}/members/{bot_id}/roles/{role['id']}")).expect(204)
    known["target_id"] = [role["id"], people[1]]
    for kind in ids.values():
        for alias, name in (("emoji", "emoji"), ("messages", "message_id"), ("target_message_id", "message_id")):
            kind[alias] = kind[name]
    known["emoji"] = ["😀", "👍"]
    return ids


def things(guild_id: str, channel_id: str) -> list[tuple[str, str, dict[str, Any]]]:
    """What one of them is called, where it is made, and of what."""
    return [
        ("message_id", f"/v1/channels/{channel_id}/messages", {"content": "Hello there"}),
        ("channel_id", f"/v1/guilds/{guild_id}/channels", {"name": "another", "type": 0}),
        ("forum_id", f"/v1/guilds/{guild_id}/channels", {"name": "forum", "type": 15}),
        ("parent_id", f"/v1/guilds/{guild_id}/channels", {"name": "category", "type": 4}),
        ("role_id", f"/v1/guilds/{guild_id}/roles", {"name": "role"}),
        ("emoji_id", f"/v1/guilds/{guild_id}/emojis", {"name": "smile", "image": IMAGE}),
        ("sticker_id", f"/v1/guilds/{guild_id}/stickers", {"name": "wave", "image": IMAGE, "tags": ["wave"]}),
        ("webhook_id", f"/v1/channels/{channel_id}/webhooks", {"name": "hook"}),
        ("invite_code", f"/v1/channels/{channel_id}/invites", {"max_age": 0, "unique": True}),
        ("thread_id", f"/v1/channels/{channel_id}/threads", {"name": "thread", "type": 11}),
    ]


async def made(client: RestClient, path: str, **body: object) -> dict[str, Any]:
    """The thing that comes of a POST."""
    answer = await client.request("POST", path, json=body, headers={"X-Service-Features": "channel_threads"})
    assert answer.status in {200, 201}, (path, answer.status, answer.body)
    thing: dict[str, Any] = answer.json()
    return thing
