"""Archives of accounts and guilds: ordering, what is in them, downloading, expiry, failure, who may see which.

Area: administration. Rules: 002.archives, 002.partial-objects.
"""

from __future__ import annotations

import errno
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.jobs import AT_ONCE, JobRun
from chat.media.zip_writing import ZipPosition, ZipWriter
from chat.registries.jobs import JobType
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.audit import audit_log
from tests.spec.ledger import proves
from tests.webhooks.surfaces import data_uri, fetch, form, png, post_form

pytestmark = pytest.mark.chat_settings(**{"archives.spare_bytes": 0})

DAY: Final = 86_400_000
UNKNOWN: Final = "1234567890"
OBJECT: Final = {
    "archive_id",
    "subject_type",
    "subject_id",
    "requested_by",
    "requested_at",
    "started_at",
    "completed_at",
    "failed_at",
    "file_size",
    "progress_percent",
    "progress_step",
    "error_message",
    "download_url_expires_at",
    "expires_at",
}
SWEEP_SECONDS: Final = 600


def place(archive: dict[str, Any]) -> str:
    """The path of one archive."""
    return f"/v1/admin/archives/{archive['subject_type']}/{archive['subject_id']}/{archive['archive_id']}"


async def over(client: RestClient, archive: dict[str, Any], *, pause: float = 0.05) -> dict[str, Any]:
    """The archive once no job works on it; looks at it every `pause` seconds."""
    while True:
        found: dict[str, Any] = (await client.get(place(archive))).expect(200)["archive"]
        if found["completed_at"] is not None or found["failed_at"] is not None:
            return found
        await trio.sleep(pause)


async def downloaded(client: RestClient, archive: dict[str, Any]) -> zipfile.ZipFile:
    """The file of an archive."""
    address = (await client.get(place(archive) + "/download")).expect(200)
    answer = await fetch(client.signed_in(None), address["downloadUrl"])
    assert answer.status == 200
    return zipfile.ZipFile(io.BytesIO(answer.body))


def read(archive: zipfile.ZipFile, name: str) -> Any:
    """A JSON file of it."""
    return json.loads(archive.read(name))


def lines(archive: zipfile.ZipFile, channel_id: str) -> list[dict[str, Any]]:
    """Its messages of one channel."""
    names = sorted(name for name in archive.namelist() if name.startswith(f"messages/{channel_id}/"))
    return [json.loads(line) for name in names for line in archive.read(name).splitlines()]


async def live_a_little(world: World) -> dict[str, str]:
    """What bob does before somebody archives him; ids by name."""
    bob, channel = world.bob.rest, world.channel_id
    first = (await bob.send_message(channel, "hello \N{PARTY POPPER}")).expect(200)["id"]
    await world.alice.rest.send_message(channel, "nobody else's business")
    body = form([("files[0]", "../../etc/pass\x07wd.txt", b"contents of a file")], b'{"content": "with a file"}')
    posted = (await post_form(bob, f"/v1/channels/{channel}/messages", body)).expect(200)
    (await bob.react(channel, first, "\N{PARTY POPPER}")).expect(204)
    (await bob.request_friendship(world.carol.id)).expect(200)
    (await bob.write_note(world.alice.id, "owes me a boat")).expect(204)
    conversation = (await bob.open_conversation(world.alice.id)).expect(200)["id"]
    (await bob.send_message(conversation, "between us")).expect(200)
    (await bob.patch("/v1/users/@me", {"bio": "rows boats", "avatar": data_uri(png())})).expect(200)
    return {
        "first": first,
        "posted": posted["id"],
        "file": posted["attachments"][0]["id"],
        "conversation": conversation,
    }


async def test_an_archive_of_an_account(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    ids = await live_a_little(world)
    path = f"/v1/admin/users/{world.bob.id}/archives"
    client = await world.bob.connect()

    ordered = (await admin.request("POST", path, json={}, headers={"X-Audit-Log-Reason": "he asked"})).expect(200)
    assert ordered.keys() == OBJECT
    with proves("002.partial-objects.4"):
        assert (ordered["progress_percent"], ordered["progress_step"]) == (0, "Queued")
    assert (ordered["subject_type"], ordered["subject_id"]) == ("user", world.bob.id)
    assert ordered["requested_by"] == world.admin.id
    unset = {"started_at", "completed_at", "failed_at", "file_size", "error_message", "download_url_expires_at"}
    assert all(ordered[name] is None for name in unset)
    with proves("002.archives.5"):
        job = (await admin.get("/v1/admin/jobs?task_type=user_archive")).expect(200)["jobs"][0]
        assert job["payload"]["archive_id"] == ordered["archive_id"]
    assert job["context_link"] == f"/admin/users/{world.bob.id}"
    early = await admin.get(place(ordered) + "/download")
    assert early.expect(400)["code"] == "HARVEST_NOT_READY"
    with proves("002.archives.8"):
        [entry] = audit_log(chat_server)
        assert (entry.action, entry.target_type, entry.target_id) == ("trigger_user_archive", "user", world.bob.id)
        assert entry.metadata == {"archive_id": ordered["archive_id"], "include_attachments": "false"}
    assert entry.reason == "he asked"

    done = await over(admin, ordered)
    assert (done["progress_percent"], done["progress_step"], done["error_message"]) == (100, "Completed", None)
    assert moment(done["expires_at"]) - moment(done["requested_at"]) == 365 * DAY
    assert done["requested_at"] <= done["started_at"] <= done["completed_at"]
    job = (await admin.get(f"/v1/admin/jobs/{job['job_id']}")).expect(200)
    assert (job["status"], job["progress_current"], job["progress_total"]) == ("completed", 100, 100)

    archive = await downloaded(admin, done)
    assert archive.testzip() is None
    account = read(archive, "account/account.json")
    assert (account["id"], account["username"], account["bio"]) == (world.bob.id, "bob", "rows boats")
    assert (account["has_password"], account["has_totp"]) == (True, False)
    assert [row["user_id"] for row in read(archive, "people/relationships.json")] == [world.carol.id]
    assert [row["note"] for row in read(archive, "people/notes.json")] == ["owes me a boat"]
    [membership] = read(archive, "guilds/memberships.json")
    assert membership["guild_id"] == world.guild_id
    [conversation] = read(archive, "conversations/private_channels.json")
    assert {person["username"] for person in conversation["recipients"]} == {"alice", "bob"}
    [reaction] = read(archive, "messages/reactions.json")
    assert (reaction["message_id"], reaction["emoji_name"]) == (ids["first"], "\N{PARTY POPPER}")
    assert len(read(archive, "account/sessions.json")) == 1
    here, there = lines(archive, world.channel_id), lines(archive, ids["conversation"])
    assert [message["content"] for message in here] == ["hello \N{PARTY POPPER}", "with a file"]
    assert [message["content"] for message in there] == ["between us"]
    [attachment] = here[1]["attachments"]
    assert "path" not in attachment
    with proves("002.archives.3"):
        assert not [name for name in archive.namelist() if name.startswith(("attachments/", "images/"))]
    everything = b"".join(archive.read(name) for name in archive.namelist())
    secrets = chat_server.database.reader.execute(
        """
        SELECT password_hash, hex(token_hash), lower(hex(token_hash))
          FROM users JOIN auth_sessions ON user_id = users.id
         WHERE users.id = ?
        """,
        (world.bob.id,),
    )
    for secret in (*secrets.fetchone(), world.bob.token, "nobody else's business"):
        assert secret.encode() not in everything
    index = read(archive, "index.json")
    assert (index["subject_id"], index["include_attachments"], index["missing_files"]) == (world.bob.id, False, 0)
    assert {part["path"]: part["count"] for part in index["contents"]}["messages/"] == 3

    with proves("002.archives.4"):
        ordered = (await admin.post(path, {"include_attachments": True})).expect(200)
        archive = await downloaded(admin, await over(admin, ordered))
        name = f"attachments/{world.channel_id}/{ids['file']}/passwd.txt"
        assert archive.read(name) == b"contents of a file"
        assert lines(archive, world.channel_id)[1]["attachments"][0]["path"] == name
        [avatar] = [name for name in archive.namelist() if name.startswith("images/avatars/")]
        assert archive.read(avatar) == png()
    assert audit_log(chat_server)[-1].metadata["include_attachments"] == "true"
    with proves("002.archives.7"):
        await client.expect_silence(5.0)

    with proves("002.archives.6"):
        assert (await admin.post(f"/v1/admin/users/{UNKNOWN}/archives", {})).expect(404)["code"] == "UNKNOWN_USER"
    wrong = [{"include_attachments": value} for value in ("true", 1, [True], {"a": 1})] + [[], "x"]
    for body in wrong:
        assert (await admin.post(path, body)).status == 400, body
    assert len(audit_log(chat_server)) == 2
    with proves("002.archives.6"):
        count = chat_server.database.reader.execute(
            "SELECT (SELECT count(*) FROM archives), (SELECT count(*) FROM jobs)"
        )
        assert count.fetchone() == (2, 2)


def moment(text: str) -> int:
    """Unix milliseconds of a time stamp."""
    from datetime import datetime

    return round(datetime.fromisoformat(text).timestamp() * 1_000)


async def test_a_download(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    world, admin, anyone = chat_world, chat_world.admin.rest, chat_world.anyone
    ordered = (await admin.post(f"/v1/admin/users/{world.bob.id}/archives", {})).expect(200)
    done = await over(admin, ordered)
    address = (await admin.get(place(done) + "/download")).expect(200)
    again = (await admin.get(place(done))).expect(200)["archive"]
    assert again["download_url_expires_at"] == address["expiresAt"]
    url = address["downloadUrl"]

    whole = await fetch(anyone, url)
    name = f"user-{world.bob.id}-{done['archive_id']}.zip"
    assert whole.header("content-type") == "application/zip"
    assert (whole.header("content-disposition") or "").startswith(f'attachment; filename="{name}"')
    assert whole.header("cache-control") == "private, no-store"
    assert len(whole.body) == int(done["file_size"])
    part = await fetch(anyone, url, {"Range": "bytes=10-19"})
    assert (part.status, part.body) == (206, whole.body[10:20])
    assert part.header("content-range") == f"bytes 10-19/{len(whole.body)}"
    beyond = await fetch(anyone, url, {"Range": f"bytes={len(whole.body)}-"})
    assert beyond.status == 416

    wrong: list[Callable[[str], str]] = [
        lambda url: url[:-1] + ("0" if url[-1] != "0" else "1"),
        lambda url: url.replace("?ex=", "?ex=f"),
        lambda url: url.partition("?")[0],
        lambda url: url.replace(name, "other.zip"),
        lambda url: url.replace(f"/{done['archive_id']}/", f"/{UNKNOWN}/"),
        lambda url: url.replace(f"/{done['archive_id']}/", "/x/"),
    ]
    for change in wrong:
        assert (await fetch(anyone, change(url))).expect(404)["code"] == "NOT_FOUND"
    await trio.sleep(3_601)
    assert (await fetch(anyone, url)).status == 404
    url = (await admin.get(place(done) + "/download")).expect(200)["downloadUrl"]
    assert (await fetch(anyone, url)).status == 200

    # The archive expires: its file goes, it is listed for whoever asks for such, and one day it is forgotten.
    file = tmp_path / "archives" / f"{done['archive_id']}.zip"
    assert file.stat().st_mode & 0o777 == 0o600
    strangers = [file.with_name("77.zip"), file.with_name("78.zip.part"), file.with_name("78.zip.part.list")]
    for stranger in strangers:
        stranger.write_bytes(b"left behind")
    notes = file.with_name("notes.txt")
    notes.write_bytes(b"an operator's")
    await aged(chat_server, done, 366 * DAY)
    assert (await fetch(anyone, url)).status == 404
    assert (await admin.get(place(done) + "/download")).expect(400)["code"] == "HARVEST_EXPIRED"
    await trio.sleep(SWEEP_SECONDS + 1)
    assert sorted(file.parent.iterdir()) == [notes]
    assert (await admin.get(place(done) + "/download")).expect(400)["code"] == "HARVEST_EXPIRED"
    assert (await admin.get("/v1/admin/archives")).expect(200)["archives"] == []
    [listed] = (await admin.get("/v1/admin/archives?include_expired=true")).expect(200)["archives"]
    assert (listed["archive_id"], listed["file_size"]) == (done["archive_id"], None)
    await aged(chat_server, done, 366 * DAY)
    await trio.sleep(SWEEP_SECONDS + 1)
    assert (await admin.get(place(done))).expect(200) == {"archive": None}
    assert (await admin.get(place(done) + "/download")).expect(404)["code"] == "UNKNOWN_HARVEST"


async def aged(server: ChatServer, archive: dict[str, Any], milliseconds: int) -> None:
    """Make the archive's order look older by `milliseconds`."""
    await server.database.write(
        lambda connection: connection.execute(
            "UPDATE archives SET expires_at = expires_at - ? WHERE id = ?", (milliseconds, int(archive["archive_id"]))
        )
    )


async def test_an_archive_of_a_guild(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> None:
    world, admin = chat_world, chat_world.admin.rest
    await live_a_little(world)
    alice = world.alice.rest
    for number in range(30):
        (await alice.send_message(world.channel_id, f"number {number}")).expect(200)
    hook = (await alice.post(f"/v1/channels/{world.channel_id}/webhooks", {"name": "Herald"})).expect(200)
    emoji = {"name": "boat", "image": data_uri(png(filler=b"boat"))}
    (await alice.post(f"/v1/guilds/{world.guild_id}/emojis", emoji)).expect(200)
    path = f"/v1/admin/guilds/{world.guild_id}/archives"
    ordered = (await admin.post(path, {"include_attachments": True})).expect(200)
    [job] = (await admin.get("/v1/admin/jobs?task_type=guild_archive")).expect(200)["jobs"]
    assert job["context_link"] == f"/admin/guilds/{world.guild_id}"
    [entry] = audit_log(chat_server)
    assert (entry.action, entry.target_type, entry.target_id) == ("trigger_guild_archive", "guild", world.guild_id)
    assert entry.metadata == {"archive_id": ordered["archive_id"], "include_attachments": "true"}
    done = await over(admin, ordered)
    archive = await downloaded(admin, done)
    assert read(archive, "guild/guild.json")["id"] == world.guild_id
    assert {row["username"] for row in read(archive, "guild/members.json")} >= {"alice", "bob", "carol"}
    assert world.channel_id in {row["id"] for row in read(archive, "guild/channels.json")}
    [webhook] = read(archive, "guild/webhooks.json")
    assert (webhook["id"], webhook["name"]) == (hook["id"], "Herald")
    contents = [message["content"] for message in lines(archive, world.channel_id)]
    assert contents[-30:] == [f"number {number}" for number in range(30)]
    assert "nobody else's business" in contents
    assert [name for name in archive.namelist() if name.endswith("/passwd.txt")]
    assert [name for name in archive.namelist() if name.startswith("images/emojis/")]
    everything = b"".join(archive.read(name) for name in archive.namelist())
    assert hook["token"].encode() not in everything
    assert b"between us" not in everything
    assert (await admin.post(f"/v1/admin/guilds/{UNKNOWN}/archives", {})).expect(404)["code"] == "UNKNOWN_GUILD"
    assert len(audit_log(chat_server)) == 1


async def test_who_may_order_and_see_which(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, admin, carol = chat_world, chat_world.admin.rest, chat_world.carol.rest
    of_user, of_guild = f"/v1/admin/users/{world.bob.id}/archives", f"/v1/admin/guilds/{world.guild_id}/archives"

    async def carol_holds(*acls: str) -> None:
        body = {"acls": ["admin:authenticate", *acls]}
        (await world.anyone.post(f"/v1/_dev/users/{world.carol.id}", body)).expect(200)

    def refused(answer: Response) -> bool:
        return (answer.status, answer.code) == (403, "MISSING_ACL")

    first = (await admin.post(of_user, {})).expect(200)
    await carol_holds("archive:view_all")
    assert refused(await carol.post(of_user, {}))
    assert refused(await carol.post(of_guild, {}))
    assert (await carol.get(place(first))).expect(200)["archive"]["archive_id"] == first["archive_id"]
    await carol_holds("archive:trigger:user")
    assert refused(await carol.post(of_guild, {}))
    own = (await carol.post(of_user, {})).expect(200)
    await carol_holds("archive:trigger:guild")
    assert refused(await carol.post(of_user, {}))
    guild = (await carol.post(of_guild, {})).expect(200)
    for archive in (first, own, guild):
        await over(admin, archive)

    async def seen(client: RestClient, **query: Any) -> list[str]:
        answer = (await client.get("/v1/admin/archives", query)).expect(200)
        return [archive["archive_id"] for archive in answer["archives"]]

    one, two, three = first["archive_id"], own["archive_id"], guild["archive_id"]
    assert await seen(admin) == [three, two, one]
    assert await seen(admin, limit=1) == [three]
    assert await seen(admin, subject_type="user") == [two, one]
    assert await seen(admin, subject_id=world.guild_id) == [three]
    assert await seen(admin, requested_by=world.admin.id) == [one]
    assert await seen(carol) == [three, two]
    assert await seen(carol, requested_by=world.admin.id) == []
    assert await seen(carol, requested_by=world.carol.id, subject_type="user") == [two]
    for path in (place(first), place({**own, "subject_id": world.alice.id}), place({**own, "subject_type": "guild"})):
        assert (await carol.get(path)).expect(200) == {"archive": None}
        assert (await carol.get(path + "/download")).expect(404)["code"] == "UNKNOWN_HARVEST"
    (await carol.get(place(own) + "/download")).expect(200)
    await carol_holds("user:lookup")
    for path in ("/v1/admin/archives", place(own), place(own) + "/download"):
        assert refused(await carol.get(path))
    for query in ("limit=0", "limit=201", "subject_type=dog", "subject_id=x", "include_expired=perhaps"):
        assert (await admin.get(f"/v1/admin/archives?{query}")).expect(400)["code"] == "INVALID_FORM_BODY"
    for path in ("dog/1/1", "user/x/1", "user/1/x"):
        assert (await admin.get(f"/v1/admin/archives/{path}")).expect(400)["code"] == "INVALID_FORM_BODY"
    assert len(audit_log(chat_server)) == 3  # reading writes nothing


async def test_nobody_reads_in_an_archive_what_they_may_not_see(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, admin, carol = chat_world, chat_world.admin.rest, chat_world.carol.rest
    elsewhere = RestClient(world.route, headers={"X-Test-Address": "203.0.113.77"})
    (await elsewhere.login(email="bob@example.com", password=world.bob.password)).expect(200)
    (await admin.patch(f"/v1/admin/users/{world.bob.id}/email", {"email": "secret@example.com"})).expect(200)
    (await world.anyone.post(f"/v1/_dev/users/{world.bob.id}", {"date_of_birth": "1977-07-07"})).expect(200)
    views = ["user:view:email", "user:view:ip", "user:view:dob", "user:view:contact_log", "audit_log:view"]

    async def contents(user_id: str, *acls: str) -> tuple[bytes, Any]:
        body = {"acls": ["admin:authenticate", "archive:trigger:user", *acls]}
        (await world.anyone.post(f"/v1/_dev/users/{world.carol.id}", body)).expect(200)
        ordered = (await carol.post(f"/v1/admin/users/{user_id}/archives", {})).expect(200)
        archive = await downloaded(carol, await over(carol, ordered))
        return b"".join(archive.read(name) for name in archive.namelist()), read(archive, "index.json")["withheld"]

    protected = (b"bob@example.com", b"secret@example.com", b"1977-07-07", b"203.0.113.77")
    everything, withheld = await contents(world.bob.id)
    assert [text for text in protected if text in everything] == []
    assert sorted(withheld) == sorted(views)
    everything, withheld = await contents(world.bob.id, *views)
    assert [text for text in protected if text not in everything] == []
    assert withheld == []
    everything, _ = await contents(world.bob.id, *views[1:])
    assert (protected[1] in everything, protected[2] in everything) == (False, True)
    everything, withheld = await contents(world.carol.id)  # the own account
    assert (b"carol@example.com" in everything, withheld) == (True, [])


@pytest.mark.chat_settings(**{"archives.spare_bytes": 1 << 52})
async def test_a_disk_without_room(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    ordered = (await admin.post(f"/v1/admin/users/{world.bob.id}/archives", {})).expect(200)
    failed = await over(admin, ordered)
    assert failed["error_message"] == "There is too little room on the disk."
    assert (failed["completed_at"], failed["file_size"]) == (None, None)
    assert (await admin.get(place(failed) + "/download")).expect(400)["code"] == "HARVEST_FAILED"
    await trio.sleep(1)
    assert list((tmp_path / "archives").iterdir()) == []


async def test_archives_that_are_cancelled_and_subjects_that_go(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    jobs = chat_server.server.areas.administration.jobs
    go_on = trio.Event()

    async def busy(_: JobRun) -> None:
        await go_on.wait()

    jobs.handle(JobType.UPDATE_USER_FLAGS, busy)

    async def order(kind: str, subject_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """An archive, and its job."""
        archive = (await admin.post(f"/v1/admin/{kind}s/{subject_id}/archives", {})).expect(200)
        listed = (await admin.get("/v1/admin/jobs")).expect(200)["jobs"]
        [job] = [job for job in listed if job["payload"].get("archive_id") == archive["archive_id"]]
        return archive, job

    async def keep_busy() -> None:
        def unit(connection: sqlite3.Connection) -> None:
            for _ in range(AT_ONCE):
                jobs.order_in(connection, JobType.UPDATE_USER_FLAGS, {})

        await chat_server.database.write(unit, lambda _: jobs.ordered())
        await trio.sleep(0.1)

    # One that waits is over at once; so is its archive.
    await keep_busy()
    archive, job = await order("user", world.bob.id)
    cancelled = (await admin.post(f"/v1/admin/jobs/{job['job_id']}/cancel")).expect(200)
    assert cancelled["status"] == "cancelled"
    found = (await admin.get(place(archive))).expect(200)["archive"]
    assert (found["error_message"], found["failed_at"]) == ("Cancelled", cancelled["completed_at"])
    assert (await admin.get(place(archive) + "/download")).expect(400)["code"] == "HARVEST_FAILED"

    # A subject that went meanwhile cannot be archived any more.
    guild_id = (await world.alice.rest.create_guild("Short-lived")).expect(200)["id"]
    archive, _ = await order("guild", guild_id)
    await chat_server.database.write(
        lambda connection: connection.execute("DELETE FROM guilds WHERE id = ?", (int(guild_id),))
    )
    # One that runs ends before its next step, and nothing is left of it.
    running, job = await order("user", world.bob.id)
    go_on.set()
    reader = chat_server.database.reader
    while not reader.execute("SELECT progress_current FROM jobs WHERE id = ?", (int(job["job_id"]),)).fetchone()[0]:
        await trio.lowlevel.checkpoint()
    await chat_server.database.write(
        lambda connection: jobs.cancel_in(connection, int(job["job_id"])), lambda job: jobs.cancelled(job)
    )
    found = await over(admin, archive)
    assert (found["error_message"], found["file_size"]) == ("The guild is gone.", None)
    await over(admin, running)
    assert (await admin.get(f"/v1/admin/jobs/{job['job_id']}")).expect(200)["status"] == "cancelled"
    found = (await admin.get(place(running))).expect(200)["archive"]
    assert (found["error_message"], found["completed_at"]) == ("Cancelled", None)
    assert 0 < found["progress_percent"] < 100
    await trio.sleep(1)
    assert list((tmp_path / "archives").iterdir()) == []


async def test_a_disk_that_fails_for_a_while(
    chat_server: ChatServer,
    chat_world: World,
    autojump_clock: MockClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fault that may pass is tried again from the step where it came; a full disk is none, and the third is the
    last."""
    world, admin = chat_world, chat_world.admin.rest
    save, faults = ZipWriter.save, [errno.EIO, errno.EIO]
    moments: list[float] = []

    def failing(self: ZipWriter) -> ZipPosition:
        if faults:
            moments.append(trio.current_time())
            raise OSError(faults.pop(0), "the disk says no")
        return save(self)

    monkeypatch.setattr(ZipWriter, "save", failing)
    path = f"/v1/admin/users/{world.bob.id}/archives"

    async def outcome() -> tuple[dict[str, Any], dict[str, Any]]:
        archive = await over(admin, (await admin.post(path, {})).expect(200), pause=10.0)
        [job, *_] = (await admin.get("/v1/admin/jobs?limit=1")).expect(200)["jobs"]
        return archive, job

    archive, job = await outcome()
    assert (archive["error_message"], archive["progress_percent"], job["attempts"]) == (None, 100, 2)
    assert (await downloaded(admin, archive)).testzip() is None
    assert moments[1] - moments[0] >= 30

    faults += [errno.ENOSPC]
    archive, job = await outcome()
    assert (archive["error_message"], job["status"], job["attempts"]) == ("The disk has no room left.", "failed", 1)
    faults += [errno.EIO] * 3
    archive, job = await outcome()
    assert (archive["error_message"], job["status"], job["attempts"]) == ("OSError", "failed", 3)
    await trio.sleep(1)
    assert len(list((tmp_path / "archives").iterdir())) == 1
