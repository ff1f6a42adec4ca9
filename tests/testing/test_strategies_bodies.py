"""Request bodies from the strategies against a server: valid ones are accepted, invalid ones are INVALID_FORM_BODY."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.testing import World, open_chat_server, strategies
from chat.testing.rest_client import Response, RestClient
from chat.testing.stepped_run import SteppedRun

FEW = settings(max_examples=30, deadline=None)


class Spokesman:
    """Posts bodies from ordinary functions to one server, which lives as long as the module's tests."""

    def __init__(self, run: SteppedRun, world: World) -> None:
        self.run = run
        self.world = world

    def alice_posts(self, path: str, body: object) -> Response:
        return self.run.call(self.world.alice.rest.post, path, body)

    def alice_changes(self, path: str, body: object) -> Response:
        return self.run.call(self.world.alice.rest.patch, path, body)

    @property
    def messages(self) -> str:
        """The path of the channel's messages."""
        return f"/v1/channels/{self.world.channel_id}/messages"

    def alice_asks(self, method: str, path: str, body: object) -> Response:
        """As a client that knows threads."""
        client = self.knowing
        return self.run.call(lambda: client.request(method, path, json=body))

    @functools.cached_property
    def knowing(self) -> RestClient:
        """Alice's client, which declares that it knows threads."""
        return self.world.alice.rest.declaring("channel_threads")

    @functools.cached_property
    def forum(self) -> str:
        """The path of a forum."""
        made = self.alice_posts(f"/v1/guilds/{self.world.guild_id}/channels", {"name": "forum", "type": 15})
        return f"/v1/channels/{made.expect(200)['id']}"

    @functools.cached_property
    def thread(self) -> str:
        """The path of a private thread."""
        made = self.alice_asks("POST", f"/v1/channels/{self.world.channel_id}/threads", {"name": "x", "type": 12})
        return f"/v1/channels/{made.expect(201)['id']}"

    def a_stranger_posts(self, path: str, body: object) -> Response:
        return self.run.call(self.world.anyone.post, path, body)

    def github_posts(self, path: str, event: str, body: object) -> Response:
        client = self.world.anyone
        return self.run.call(lambda: client.request("POST", path, json=body, headers={"X-GitHub-Event": event}))

    @functools.cached_property
    def webhook(self) -> str:
        """The address of a webhook of the channel."""
        made = self.alice_posts(f"/v1/channels/{self.world.channel_id}/webhooks", {"name": "Herald"}).expect(200)
        return f"/v1/webhooks/{made['id']}/{made['token']}"


@pytest.fixture(scope="module")
def spokesman(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spokesman]:
    folder = tmp_path_factory.mktemp("data")
    worlds: list[World] = []

    async def live(task_status: trio.TaskStatus[None]) -> None:
        limits = {
            "limits.max_guilds": 10_000,
            "limits.max_guild_invites": 10_000,
            "limits.max_webhooks_per_channel": 10_000,
        }
        async with open_chat_server(folder, settings=limits) as server:
            worlds.append(World(server.description(), server.route(), run.nursery))
            task_status.started()
            await trio.sleep_forever()

    with SteppedRun(virtual=True) as run:
        run.call(run.nursery.start, live)
        yield Spokesman(run, worlds[0])


def is_invalid(answer: Response) -> None:
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer


@FEW
@given(body=strategies.message_bodies())
def test_messages_are_sent(spokesman: Spokesman, body: dict[str, Any]) -> None:
    path = f"/v1/channels/{spokesman.world.channel_id}/messages"
    sent = spokesman.alice_posts(path, body).expect(200)
    if "nonce" in body:  # a nonce that was used before brings back the message it was used for
        assert sent["nonce"] == body["nonce"]
    else:
        assert sent["content"] in {body["content"], body["content"].strip()}


@FEW
@given(body=strategies.invalid_message_bodies())
def test_invalid_messages_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_posts(f"/v1/channels/{spokesman.world.channel_id}/messages", body))


@FEW
@given(body=strategies.rich_message_bodies())
def test_embeds_are_sent(spokesman: Spokesman, body: dict[str, Any]) -> None:
    sent = spokesman.alice_posts(spokesman.messages, body).expect(200)
    shown = [] if sent["flags"] & 4 else [embed["title"] for embed in body["embeds"]]
    assert [embed["title"] for embed in sent["embeds"]] == shown


@FEW
@given(body=strategies.invalid_rich_message_bodies())
def test_invalid_embeds_and_the_like_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_posts(spokesman.messages, body))


@FEW
@given(body=strategies.message_edits())
def test_messages_are_edited(spokesman: Spokesman, body: dict[str, Any]) -> None:
    sent = spokesman.alice_posts(spokesman.messages, {"content": "first"}).expect(200)
    edited = spokesman.alice_changes(f"{spokesman.messages}/{sent['id']}", body).expect(200)
    assert edited["content"] == body.get("content", "first").strip()


@FEW
@given(body=strategies.invalid_message_edits())
def test_invalid_edits_are_refused(spokesman: Spokesman, body: object) -> None:
    sent = spokesman.alice_posts(spokesman.messages, {"content": "first"}).expect(200)
    is_invalid(spokesman.alice_changes(f"{spokesman.messages}/{sent['id']}", body))


@FEW
@given(body=strategies.bulk_deletions())
def test_messages_are_deleted_together(spokesman: Spokesman, body: object) -> None:
    spokesman.alice_posts(f"{spokesman.messages}/bulk-delete", body).expect(204)


@FEW
@given(body=strategies.invalid_bulk_deletions())
def test_invalid_lists_of_messages_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_posts(f"{spokesman.messages}/bulk-delete", body))


@FEW
@given(body=strategies.purges())
def test_messages_are_purged(spokesman: Spokesman, body: dict[str, Any]) -> None:
    purged = spokesman.alice_posts(f"{spokesman.messages}/purge", body).expect(200)
    assert purged["deleted_count"] <= body.get("limit", 100)


@FEW
@given(body=strategies.invalid_purges())
def test_invalid_purges_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_posts(f"{spokesman.messages}/purge", body))


@FEW
@given(data=st.data())
def test_windows_are_read(spokesman: Spokesman, data: st.DataObject) -> None:
    known = [spokesman.world.channel_id, spokesman.world.voice_channel_id]
    body = data.draw(strategies.message_windows(st.sampled_from([*known, "1"])))
    found = spokesman.alice_posts("/v1/channels/messages/bulk", body).expect(200)["channels"]
    asked = [window["channel_id"] for window in body["requests"]]
    assert [window["channel_id"] for window in found] == [channel_id for channel_id in asked if channel_id in known]


@FEW
@given(body=strategies.invite_bodies())
def test_invites_are_made(spokesman: Spokesman, body: dict[str, Any]) -> None:
    invite = spokesman.alice_posts(f"/v1/channels/{spokesman.world.channel_id}/invites", body).expect(200)
    assert invite["max_uses"] == body.get("max_uses", 0)


@FEW
@given(body=strategies.invalid_invite_bodies())
def test_invalid_invites_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_posts(f"/v1/channels/{spokesman.world.channel_id}/invites", body))


@FEW
@given(body=strategies.guild_bodies())
def test_guilds_are_made(spokesman: Spokesman, body: dict[str, Any]) -> None:
    guild = spokesman.alice_posts("/v1/guilds", body)
    assert guild.status in {200, 201}, guild
    assert guild.json()["owner_id"] == spokesman.world.alice.id


@FEW
@given(body=strategies.invalid_guild_bodies())
def test_invalid_guilds_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_posts("/v1/guilds", body))


@FEW
@given(body=strategies.invalid_login_bodies())
def test_invalid_logins_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.a_stranger_posts("/v1/auth/login", body))


@FEW
@given(body=strategies.invalid_registrations())
def test_invalid_registrations_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.a_stranger_posts("/v1/auth/register", body))


@FEW
@given(body=strategies.registrations())
def test_registrations_make_an_account_unless_the_name_is_taken(spokesman: Spokesman, body: dict[str, Any]) -> None:
    answer = spokesman.a_stranger_posts("/v1/auth/register", body)
    assert answer.status == 200 or answer.code == "INVALID_FORM_BODY", answer
    if answer.status == 200:
        assert answer.json()["token"].startswith("cht_")


@FEW
@given(body=strategies.webhook_bodies())
def test_webhooks_are_made(spokesman: Spokesman, body: dict[str, Any]) -> None:
    made = spokesman.alice_posts(f"/v1/channels/{spokesman.world.channel_id}/webhooks", body).expect(200)
    assert made["name"] == unicodedata.normalize("NFC", body["name"])


@FEW
@given(body=strategies.webhook_executions())
def test_webhooks_are_executed(spokesman: Spokesman, body: dict[str, Any]) -> None:
    said = spokesman.a_stranger_posts(f"{spokesman.webhook}?wait=true", body).expect(200)
    assert said["content"] == body["content"].strip()
    assert said["author"]["username"] == unicodedata.normalize("NFC", body.get("username") or "Herald")


@FEW
@given(body=strategies.invalid_webhook_executions())
def test_invalid_executions_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.a_stranger_posts(spokesman.webhook, body))


@FEW
@given(body=strategies.slack_messages(), event=strategies.GITHUB_EVENTS)
def test_messages_in_slacks_form_are_sent(spokesman: Spokesman, body: dict[str, Any], event: str) -> None:
    answer = spokesman.a_stranger_posts(f"{spokesman.webhook}/slack", body)
    assert (answer.status, answer.body) == (200, b"ok"), answer


@FEW
@given(body=strategies.github_deliveries(), event=strategies.GITHUB_EVENTS)
def test_deliveries_of_github_are_taken(spokesman: Spokesman, body: dict[str, Any], event: str) -> None:
    assert spokesman.github_posts(f"{spokesman.webhook}/github", event, body).status == 204


@FEW
@given(body=strategies.instatus_notices())
def test_notices_of_status_pages_are_taken(spokesman: Spokesman, body: dict[str, Any]) -> None:
    assert spokesman.a_stranger_posts(f"{spokesman.webhook}/instatus", body).status == 204


@FEW
@given(body=strategies.upload_promises())
def test_uploads_are_promised(spokesman: Spokesman, body: dict[str, Any]) -> None:
    path = f"/v1/channels/{spokesman.world.channel_id}/attachments"
    answer = spokesman.alice_posts(path, body)
    if answer.code == "INVALID_FORM_BODY":  # the number of waiting uploads is limited
        assert answer.json()["errors"][0]["code"] == "TOO_MANY_FILES"
    else:
        assert len(answer.expect(200)["attachments"]) == len(body["files"])


@FEW
@given(body=strategies.invalid_upload_promises())
def test_invalid_promises_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_posts(f"/v1/channels/{spokesman.world.channel_id}/attachments", body))


@FEW
@given(body=strategies.thread_starts())
def test_threads_are_started(spokesman: Spokesman, body: dict[str, Any]) -> None:
    path = f"/v1/channels/{spokesman.world.channel_id}/threads"
    started = spokesman.alice_asks("POST", path, body).expect(201)
    assert (started["name"], started["type"]) == (body["name"], body.get("type") or 11)
    spokesman.alice_asks("DELETE", f"/v1/channels/{started['id']}", {}).expect(204)


@FEW
@given(body=strategies.invalid_thread_starts())
def test_what_is_no_thread_is_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_asks("POST", f"/v1/channels/{spokesman.world.channel_id}/threads", body))


@FEW
@given(body=strategies.posts())
def test_posts_are_made(spokesman: Spokesman, body: dict[str, Any]) -> None:
    made = spokesman.alice_asks("POST", f"{spokesman.forum}/threads", body).expect(201)
    assert made["message"]["content"] == body["message"]["content"].strip()
    spokesman.alice_asks("DELETE", f"/v1/channels/{made['id']}", {}).expect(204)


@FEW
@given(body=strategies.invalid_posts())
def test_what_is_no_post_is_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_asks("POST", f"{spokesman.forum}/threads", body))


@FEW
@given(body=strategies.thread_changes())
def test_threads_are_changed(spokesman: Spokesman, body: dict[str, Any]) -> None:
    changed = spokesman.alice_asks("PATCH", spokesman.thread, body).expect(200)
    shown = {**changed, **changed["thread_metadata"]}
    assert {name: shown[name] for name in body} == body


@FEW
@given(body=strategies.invalid_thread_changes())
def test_what_no_thread_becomes_is_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_asks("PATCH", spokesman.thread, body))


@FEW
@given(body=strategies.forum_fields())
def test_forums_are_changed(spokesman: Spokesman, body: dict[str, Any]) -> None:
    changed = spokesman.alice_asks("PATCH", spokesman.forum, body).expect(200)
    if "available_tags" in body:
        assert [tag["name"] for tag in changed["available_tags"]] == [
            tag["name"].strip() for tag in body["available_tags"]
        ]


@FEW
@given(body=strategies.invalid_forum_fields())
def test_what_no_forum_has_is_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_asks("PATCH", spokesman.forum, body))


SETTINGS = "/v1/users/@me/settings"


@FEW
@given(body=strategies.settings_bodies())
def test_settings(spokesman: Spokesman, body: dict[str, Any]) -> None:
    shown = spokesman.alice_changes(SETTINGS, body).expect(200)
    for name in body.keys() & {"status", "theme", "locale", "friend_source_flags"}:
        assert shown[name] == body[name]
    if "restricted_guilds" in body:  # of which those that are gone are left out
        assert set(shown["restricted_guilds"]) <= set(body["restricted_guilds"])


@FEW
@given(body=strategies.invalid_settings_bodies())
def test_invalid_settings(spokesman: Spokesman, body: dict[str, Any]) -> None:
    refused = spokesman.alice_changes(SETTINGS, body)
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY"), refused.body


@FEW
@given(body=strategies.guild_settings_bodies())
def test_guild_settings(spokesman: Spokesman, body: dict[str, Any]) -> None:
    for place in ("@me", spokesman.world.guild_id):
        spokesman.alice_changes(f"/v1/users/@me/guilds/{place}/settings", body).expect(200)


@FEW
@given(body=strategies.invalid_guild_settings_bodies())
def test_invalid_guild_settings(spokesman: Spokesman, body: dict[str, Any]) -> None:
    refused = spokesman.alice_changes(f"/v1/users/@me/guilds/{spokesman.world.guild_id}/settings", body)
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY"), refused.body


@FEW
@given(body=strategies.profile_bodies())
def test_profiles(spokesman: Spokesman, body: dict[str, Any]) -> None:
    for path in ("/v1/users/@me", f"/v1/guilds/{spokesman.world.guild_id}/members/@me"):
        shown = spokesman.alice_changes(path, body).expect(200)
        if "accent_color" in body:
            assert shown["accent_color"] == body["accent_color"]


@FEW
@given(body=strategies.invalid_profile_bodies())
def test_invalid_profiles(spokesman: Spokesman, body: dict[str, Any]) -> None:
    for path in ("/v1/users/@me", f"/v1/guilds/{spokesman.world.guild_id}/members/@me"):
        refused = spokesman.alice_changes(path, body)
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY"), refused.body


@FEW
@given(body=strategies.note_bodies(), change=strategies.friendship_changes())
def test_notes_and_friendships(spokesman: Spokesman, body: dict[str, Any], change: dict[str, Any]) -> None:
    world = spokesman.world
    spokesman.run.call(world.alice.rest.put, f"/v1/users/@me/notes/{world.bob.id}", body).expect(204)
    spokesman.run.call(world.alice.rest.request_friendship, world.bob.id)
    spokesman.run.call(world.bob.rest.accept_friendship, world.alice.id)
    shown = spokesman.alice_changes(f"/v1/users/@me/relationships/{world.bob.id}", change).expect(200)
    assert {name: shown[name] for name in change} == change


# Reading


@FEW
@given(emoji=strategies.reaction_emojis())
def test_everybody_reacts_with_an_emoji(spokesman: Spokesman, emoji: str) -> None:
    alice = spokesman.world.alice.rest
    message_id = spokesman.alice_posts(spokesman.messages, {"content": "hello"}).expect(200)["id"]
    spokesman.run.call(alice.react, spokesman.world.channel_id, message_id, emoji).expect(204)
    users = spokesman.run.call(alice.reaction_users, spokesman.world.channel_id, message_id, emoji).expect(200)
    assert [user["id"] for user in users] == [spokesman.world.alice.id]
    spokesman.run.call(alice.take_reaction, spokesman.world.channel_id, message_id, emoji).expect(204)


@FEW
@given(emoji=strategies.invalid_reaction_emojis())
def test_nobody_reacts_with_what_is_no_emoji(spokesman: Spokesman, emoji: str) -> None:
    is_invalid(spokesman.run.call(spokesman.world.alice.rest.react, spokesman.world.channel_id, "1", emoji))


@FEW
@given(body=strategies.acknowledgements())
def test_messages_are_acknowledged(spokesman: Spokesman, body: dict[str, Any]) -> None:
    spokesman.alice_posts(f"{spokesman.messages}/1/ack", body).expect(204)


@FEW
@given(body=strategies.invalid_acknowledgements())
def test_invalid_acknowledgements_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_posts(f"{spokesman.messages}/1/ack", body))


@FEW
@given(body=strategies.channel_acknowledgements())
def test_channels_are_acknowledged(spokesman: Spokesman, body: dict[str, Any]) -> None:
    spokesman.alice_posts("/v1/read-states/ack", body).expect(204)


@FEW
@given(body=strategies.invalid_channel_acknowledgements())
def test_invalid_acknowledgements_of_channels_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_posts("/v1/read-states/ack-bulk", body))


@FEW
@given(query=strategies.mention_queries())
def test_mentions_are_listed(spokesman: Spokesman, query: dict[str, str]) -> None:
    client = spokesman.world.alice.rest
    assert spokesman.run.call(lambda: client.mentions(**query)).expect(200) == []


@FEW
@given(body=strategies.invalid_saved_messages())
def test_invalid_messages_are_not_saved(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_posts("/v1/users/@me/saved-messages", body))


@FEW
@given(body=strategies.meme_words())
def test_words_for_memes_are_valid(spokesman: Spokesman, body: dict[str, Any]) -> None:
    answer = spokesman.alice_changes("/v1/users/@me/memes/1", body)
    assert (answer.status, answer.code) == (404, "UNKNOWN_FAVORITE_MEME")


@FEW
@given(body=strategies.invalid_meme_words())
def test_invalid_words_for_memes_are_refused(spokesman: Spokesman, body: object) -> None:
    is_invalid(spokesman.alice_changes("/v1/users/@me/memes/1", body))
