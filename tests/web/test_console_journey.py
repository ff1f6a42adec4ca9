"""The administration console in a browser: a whole case of moderation, keys, jobs, and how it looks
(issue 6, part 8 and Accepted when)."""

from __future__ import annotations

import re
import sqlite3
import time
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from playwright.sync_api import Locator, expect

from chat.admin.operation import AdminOperation
from chat.admin.routes import ADMIN_ROUTES
from chat.registries.admin_actions import AdminTarget
from chat.registries.blocklists import Blocklist
from chat.registries.guild_features import GuildFeature
from chat.registries.guild_values import DisabledOperation
from chat.registries.jobs import JobStatus, JobType
from chat.registries.reports import (
    MINIMUM_DAYS,
    MINIMUM_DAYS_ON_REQUEST,
    RESOLVED_BY_DELETION,
    DeletionReason,
    ReportCategory,
    ReportKind,
)
from chat.registries.user_flags import PremiumFlag, PremiumType, UserFlag
from chat.store.administration import figures, jobs
from chat.store.administration.figures import Figures, bucket_of
from chat.store.administration.jobs import Job
from tests.web.browsing import Instance, Visitor, instance
from tests.web.conftest import MakeVisitor

MESSAGES: Final = 130
"""What carol has written: two steps of a job."""

MARKUP: Final = "<img src=x onerror=alert(1)>"
"""What an account may call itself, and what must stay text."""


class Administrator(Visitor):
    """Somebody at the console."""

    @property
    def place(self) -> Locator:
        """What is shown beside the menu."""
        return self.page.locator("#view")

    @property
    def dialog(self) -> Locator:
        """The question in front of the page."""
        return self.page.get_by_role("dialog")

    def enters(self, person: dict[str, Any]) -> None:
        """Sign in on the page that the console leads to."""
        self.fills(email=person["email"], password=person["password"])
        self.presses("Sign in")

    def opens(self, path: str, heading: str) -> None:
        """Open an address of the console."""
        self.goes_to(path)
        self.sees(heading)

    def sees(self, heading: str) -> None:
        """Wait for a place by its heading."""
        self.place.get_by_role("heading", level=1, name=heading, exact=True).wait_for()

    def answers(self, sure: str, *, twice: bool = False, **fields: str | bool) -> None:
        """Fill in fields of the question by their names, and confirm; `twice` as fast as one can."""
        for name, value in fields.items():
            control = self.dialog.locator(f'[name="{name.replace("audit_log_reason", "audit-log-reason")}"]').first
            if isinstance(value, bool):
                control.set_checked(value)
            elif control.evaluate("element => element.tagName") == "SELECT":
                control.select_option(value)
            else:
                control.fill(value)
        button = self.dialog.get_by_role("button", name=sure, exact=True)
        button.dblclick() if twice else button.click()

    def acts(self, button: str, sure: str, **fields: str | bool) -> None:
        """Press a button and answer what it asks."""
        self.place.get_by_role("button", name=button, exact=True).click()
        self.answers(sure, **fields)

    def turns_to(self, part: str) -> None:
        """Follow a link beside the menu."""
        self.place.get_by_role("link", name=part, exact=True).click()

    def reads_fact(self, name: str, text: str | re.Pattern[str]) -> None:
        """Wait until a list of facts says this of that."""
        term = self.place.locator("dt").filter(has_text=re.compile(rf"^{re.escape(name)}$"))
        self.place.locator("dt + dd").and_(term.locator("xpath=following-sibling::dd[1]")).filter(
            has_text=text
        ).first.wait_for()


@pytest.fixture
def administrator(visit: MakeVisitor) -> Administrator:
    """Somebody with a browser, not signed in."""
    return visit(kind=Administrator, viewport={"width": 1280, "height": 900})


def entries(home: Instance, **query: str) -> list[dict[str, Any]]:
    """What the audit log has, the newest first."""
    path = "/v1/admin/audit-logs?limit=200&" + "&".join(f"{name}={value}" for name, value in query.items())
    found: list[dict[str, Any]] = home.call("GET", path, token=home.world["admin"]["token"])["logs"]
    return found


def waiting_job(home: Instance, subject_id: int) -> int:
    """A job that waits for its time, as one does after a failure."""
    now = int(time.time() * 1_000)
    job = Job(
        id=subject_id + 1,
        task_type=JobType.MESSAGE_SHRED,
        subject_id=subject_id,
        payload={"entries": []},
        progress_current=40,
        progress_total=100,
        run_at=now + 3_600_000,
        created_at=now,
        changed_at=now,
    )
    connection = sqlite3.connect(Path(home.folder) / "chat.sqlite3", isolation_level=None)
    try:
        jobs.insert(connection, job)
    finally:
        connection.close()
    return job.id


def test_a_case_of_moderation(administrator: Administrator, home: Instance) -> None:
    visitor, page = administrator, administrator.page
    admin, bob, alice = home.world["admin"], home.person("bob"), home.person("alice")
    home.call("POST", f"/v1/_dev/users/{bob['id']}", {"global_name": MARKUP})

    # Whoever administers nothing is told so; whoever does gets where they wanted to go.
    visitor.goes_to(f"/admin/users/{bob['id']}")
    visitor.arrives_at("/admin/sign-in")
    visitor.enters(alice)
    visitor.reads("You cannot administer Chat")
    page.get_by_text("This account administers nothing here.").wait_for()
    visitor.presses("Sign in with another account")
    visitor.arrives_at("/admin/sign-in")
    visitor.enters(admin)
    visitor.sees("Administration")
    assert page.evaluate("localStorage.length") == 0

    # Find: the words of a search go to the API alone.
    page.get_by_label("Find an account").fill("bob")
    visitor.presses("Search")
    visitor.sees("Accounts")
    visitor.place.get_by_role("heading", name="1 account", exact=True).wait_for()
    visitor.place.get_by_role("link", name=re.compile(r"^bob#\d{4}$")).click()
    visitor.sees(MARKUP)
    expect(page.locator("#view img")).to_have_count(0)
    page.go_back()
    visitor.sees("Accounts")
    expect(page.get_by_label("Look for")).to_have_value("bob")
    page.go_forward()
    visitor.sees(MARKUP)
    expect(page.locator("h1:focus")).to_have_count(1)

    # Read.
    visitor.reads_fact("Email", "bob@example.com")
    visitor.turns_to("Sessions")
    visitor.place.get_by_text("active", exact=True).first.wait_for()
    visitor.turns_to("Communities")
    visitor.place.get_by_role("link", name="Seeded guild").wait_for()
    page.go_back()
    page.go_back()
    visitor.place.get_by_role("heading", name="Ban", exact=True).wait_for()

    # Warn by a note; an empty one is none.
    visitor.acts("Write a note", "Write the note")
    visitor.is_told("Fill in this field.")
    visitor.answers("Write the note", twice=True, audit_log_reason="Warned: für Łódź 🙂")
    visitor.is_told("The note is in the audit log.")
    [note] = [entry for entry in entries(home, target_id=bob["id"]) if entry["audit_log_reason"]]
    assert (note["action"], note["audit_log_reason"]) == ("get_user", "Warned: für Łódź 🙂")

    # Ban, and annotate the ban.
    visitor.acts("Ban", "Ban", duration_hours="other")
    visitor.is_told("Fill in this field.")
    visitor.dialog.get_by_label("Hours").fill("8761")
    visitor.dialog.get_by_role("button", name="Ban", exact=True).click()
    visitor.dialog.locator(".field-error").wait_for()
    visitor.dialog.get_by_label("Hours").fill("48")
    visitor.answers("Ban", twice=True, reason="Spam in the seeded channel", audit_log_reason="Third time")
    visitor.is_told("The account is banned until")
    # What the question covered does not take the second half of the double click for its own.
    covered = visitor.place.get_by_role("button", name="Schedule the deletion", exact=True)
    covered.dispatch_event("click", {"detail": 2})
    expect(page.locator("dialog[open]")).to_have_count(0)
    visitor.reads_fact("Banned until", re.compile(r"\(in (2 days|48 hours|47 hours)\)"))
    assert len([entry for entry in entries(home, target_id=bob["id"]) if entry["action"] == "temp_ban"]) == 1
    assert "Spam in the seeded channel" in home._newest_mail("temporary_ban", bob["email"])["text"]
    visitor.acts("Add a note to the ban", "Add the note", note="Wrote to us and apologised")
    visitor.is_told("The note is added.")
    visitor.place.get_by_text("Wrote to us and apologised").wait_for()

    # Schedule the deletion, replace it, cancel it.
    visitor.acts("Schedule the deletion", "Schedule the deletion")
    visitor.is_told("Fill in this field.")
    answers = {"reason_code": "3", "public_reason": "You sent spam", "audit_log_reason": "See the case"}
    visitor.answers("Schedule the deletion", **answers)
    visitor.is_told("The account is to be erased on")
    visitor.reads_fact("Private reason", "See the case")
    visitor.acts("Replace the deletion", "Replace the deletion", days_until_deletion="90", reason_code="17")
    visitor.is_told("The account is now to be erased on")
    visitor.reads_fact("Reason", "Ban evasion")
    # Somebody else was faster: that is told, and nothing is changed.
    pending = home.call("GET", f"/v1/admin/users/{bob['id']}", token=admin["token"])["users"][0]["pending_deletion_at"]
    other = {"reason_code": 2, "replace_pending_deletion_at": pending, "days_until_deletion": 120}
    home.call("PUT", f"/v1/admin/users/{bob['id']}/deletion", other, token=admin["token"])
    visitor.acts("Cancel the deletion", "Cancel the deletion")
    visitor.is_told("Somebody else has changed this in the meantime")
    visitor.dialog.get_by_role("button", name="Cancel", exact=True).click()
    page.reload()
    visitor.reads_fact("Reason", "Other")
    visitor.acts("Cancel the deletion", "Cancel the deletion")
    visitor.is_told("The deletion is cancelled.")

    # Restore.
    visitor.acts("Lift the ban", "Lift the ban", public_reason="All is well")
    visitor.is_told("The ban is lifted.")
    visitor.place.locator(".identity").get_by_text("in order").wait_for()

    # All of it stands in the audit log.
    visitor.turns_to("History")
    visitor.place.get_by_role("heading", name="What administrators did").wait_for()
    told = [text.lower().replace(" ", "_") for text in visitor.place.locator("td strong").all_inner_texts()]
    done = [
        action for action in reversed(told) if action not in {"get_user", "list_user_sessions", "list_user_communities"}
    ]
    assert [action for action in done if "report" not in action] == [
        "temp_ban",
        "annotate_ban",
        "schedule_deletion",
        "schedule_deletion",
        "schedule_deletion",
        "cancel_deletion",
        "unban",
    ]
    visitor.place.get_by_text("Warned: für Łódź 🙂").wait_for()
    row = visitor.place.get_by_role("row").filter(has_text="Schedule deletion").nth(1)
    row.get_by_role("link").first.click()
    visitor.sees("Schedule deletion")
    visitor.reads_fact("Replaced reason code", "3")
    visitor.reads_fact("Reason code", "17")
    visitor.follows("Everything about the same")
    visitor.sees("Audit log")
    page.get_by_label("Words").fill("cancel_deletion")
    visitor.presses("Search")
    visitor.place.get_by_role("heading", name="1 entry", exact=True).wait_for()

    # No secret and no search stands in an address of a page; the API is asked under its own.
    shown = [address for address in visitor.addresses if "/v1/" not in address]
    assert not any("bob" in address.partition("#")[0] for address in shown)
    assert not any(admin["password"] in address or "cht_" in address for address in visitor.addresses)


def test_keys_jobs_and_what_goes_wrong(administrator: Administrator, home: Instance) -> None:
    visitor, page = administrator, administrator.page
    admin, carol = home.world["admin"], home.person("carol")
    visitor.goes_to("/admin/keys")
    visitor.arrives_at("/admin/sign-in")
    visitor.enters(admin)
    visitor.sees("API keys")

    # A key is told once, works, is narrowed, and ends.
    visitor.acts("Make a key", "Make the key", name="Statistics")
    visitor.dialog.get_by_text("It is shown this once").wait_for()
    key = visitor.dialog.get_by_label("Key", exact=True).inner_text()
    assert home.call("GET", "/v1/admin/acls", token=f"Admin {key}")["acls"]
    visitor.presses("Done")
    visitor.place.get_by_text("Statistics").wait_for()
    assert key not in page.content()
    visitor.place.get_by_role("row").filter(has_text="Statistics").get_by_role("button", name="Change").click()
    visitor.dialog.get_by_label("Look through: Permissions of the key").fill("jobs")
    visitor.dialog.get_by_label("jobs:view").check()
    visitor.dialog.get_by_role("button", name="Change the key").click()
    visitor.is_told("The key has 2 permissions.")
    visitor.place.get_by_role("row").filter(has_text="Statistics").get_by_role("button", name="Delete").click()
    visitor.confirms("Delete the key")
    visitor.is_told("The key is deleted.")
    with pytest.raises(OSError, match="401"):
        home.call("GET", "/v1/admin/acls", token=f"Admin {key}")

    # All messages of an account: counted, then deleted by a job that is followed to its end.
    for number in range(MESSAGES):
        path = f"/v1/channels/{home.world['channel_id']}/messages"
        home.call("POST", path, {"content": f"spam {number}"}, token=carol["token"])
    visitor.opens(f"/admin/users/{carol['id']}/messages", "Carol")
    visitor.acts("Count the messages", "Count")
    visitor.is_told(f"{MESSAGES} messages in up to")
    visitor.acts("Delete all messages", "Delete all messages", typed="carl")
    visitor.is_told("The word is another one.")
    visitor.answers("Delete all messages", twice=True, typed="carol")
    visitor.is_told("The job is queued.")
    visitor.reads_fact("State", "completed")
    visitor.reads_fact("Progress", f"{MESSAGES} of {MESSAGES}")
    assert len([entry for entry in entries(home) if entry["action"] == "delete_all_user_messages"]) == 1

    # A job that waits is cancelled, and the list sees it by itself.
    job_id = waiting_job(home, int(carol["id"]))
    visitor.opens("/admin/jobs", "Jobs")
    visitor.place.get_by_text("40 of 100").wait_for()
    visitor.place.get_by_role("row").filter(has_text="pending").get_by_role("link", name="Message shred").click()
    visitor.sees("Message shred")
    visitor.acts("Cancel the job", "Cancel the job", audit_log_reason="Wrong account")
    visitor.is_told("The job is cancelled.")
    visitor.reads_fact("State", "cancelled")
    job = home.call("GET", f"/v1/admin/jobs/{job_id}", token=admin["token"])
    assert (job["status"], job["progress_current"]) == (JobStatus.CANCELLED, 40)

    # Work for many at once goes on where it can be watched.
    visitor.follows("Jobs")
    visitor.place.locator("summary").filter(has_text="Order work for many at once").click()
    visitor.place.get_by_role("button", name="Change the flags of many accounts").click()
    visitor.dialog.get_by_role("group", name="Flags to be set").get_by_label("SPAMMER").check()
    visitor.answers("Order the job", user_ids=f"{carol['id']}\n{home.world['bot']['user_id']}")
    visitor.sees("Update user flags")
    visitor.reads_fact("State", "completed")
    assert int(home.call("GET", f"/v1/admin/users/{carol['id']}", token=admin["token"])["users"][0]["flags"]) & 64

    # Too often: reading waits and goes on; a change is left to the person, in words.
    fault = {"action": "http", "method": "GET", "path": "/v1/admin/jobs", "status": 429, "times": 1, "retry_after": 1}
    home.call("POST", "/v1/_dev/faults", fault)
    visitor.follows("Jobs")
    visitor.sees("Jobs")
    visitor.opens(f"/admin/users/{carol['id']}", "Carol")
    path = f"/v1/admin/users/{carol['id']}/traits"
    fault = {"action": "http", "method": "PUT", "path": path, "status": 429, "times": 1, "retry_after": 7}
    home.call("POST", "/v1/_dev/faults", fault)
    visitor.acts("Change the traits", "Change the traits", traits="one\ntwo\none")
    visitor.is_told("That was tried too often. Wait 7 seconds and try again.")
    # No network: told, and what was typed is still there.
    page.context.set_offline(True)
    visitor.dialog.get_by_role("button", name="Change the traits").click()
    visitor.is_told("it may or may not be done")
    page.context.set_offline(False)
    visitor.dialog.get_by_role("button", name="Change the traits").click()
    visitor.is_told("The traits are changed.")
    visitor.reads_fact("Traits", "onetwo")
    # What the API complains of stands beside the field.
    visitor.acts("Change the username", "Change the username", username="every one")
    visitor.dialog.locator(".field:has([name=username]) .field-error").wait_for()
    expect(page.locator(".errors:focus")).to_have_count(1)
    page.keyboard.press("Escape")
    visitor.dialog.wait_for(state="hidden")
    expect(page.locator("[data-action=changeUsername]")).to_be_focused()
    visitor.complaints = [text for text in visitor.complaints if "ERR_INTERNET_DISCONNECTED" not in text]

    # Who may do less sees less, and why.
    home.call("POST", f"/v1/_dev/users/{carol['id']}", {"acls": ["admin:authenticate", "user:lookup", "user:temp_ban"]})
    visitor.presses("Sign out")
    visitor.arrives_at("/admin/sign-in")
    visitor.enters(carol)
    visitor.sees("Administration")
    expect(page.locator("#menu-list a").first).to_have_text("Overview")
    expect(page.locator("#menu-list a").nth(1)).to_have_text("Accounts")
    expect(page.locator("#menu-list")).not_to_contain_text("Audit log")
    visitor.opens(f"/admin/users/{admin['id']}", "Admin")
    visitor.reads_fact("Email", "hidden from you")
    refused = visitor.place.get_by_role("button", name="Schedule the deletion")
    expect(refused).to_have_attribute("aria-disabled", "true")
    visitor.place.get_by_text("You need the permission user:delete.").wait_for()
    refused.click(force=True)
    expect(visitor.dialog).to_have_count(0)
    visitor.opens("/admin/audit-log", "That did not work")
    visitor.place.get_by_text("You do not have the permission that this asks for.").wait_for()
    # What a search complains of stands beside its fields, which keep what was typed.
    visitor.opens("/admin/users#by=user_id&text=12+nonsense", "Accounts")
    visitor.place.get_by_role("alert").wait_for()
    expect(page.get_by_label("Look for")).to_have_value("12 nonsense")
    # The first thing that the keyboard finds leads past the menu, and loses nothing.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    expect(page).to_have_url(re.compile("nonsense$"))
    # The sign-in ends while she looks on.
    home.call("DELETE", f"/v1/admin/users/{carol['id']}/sessions", token=admin["token"])
    visitor.follows("Accounts")
    visitor.presses("Search")
    visitor.arrives_at("/admin/sign-in")


PLACES: Final = (
    ("/admin/users#by=q&text=", "Accounts"),
    ("/admin/users/{alice}", "Alice"),
    ("/admin/users/{alice}/sessions", "Alice"),
    ("/admin/users/{alice}/guilds", "Alice"),
    ("/admin/users/{alice}/conversations", "Alice"),
    ("/admin/users/{alice}/relationships", "Alice"),
    ("/admin/users/{alice}/applications", "Alice"),
    ("/admin/users/{alice}/messages", "Alice"),
    ("/admin/users/{alice}/history", "Alice"),
    ("/admin/audit-log", "Audit log"),
    ("/admin/jobs", "Jobs"),
    ("/admin/keys", "API keys"),
    ("/admin/guilds", "Communities"),
    ("/admin/guilds/{guild}", "Seeded guild"),
    ("/admin/guilds/{guild}/members", "Seeded guild"),
    ("/admin/guilds/{guild}/emojis", "Seeded guild"),
    ("/admin/guilds/{guild}/audit-log", "Seeded guild"),
    ("/admin/messages", "Messages"),
    ("/admin/reports", "Reports"),
    ("/admin/discovery", "Discovery"),
    ("/admin/blocklists", "Blocklists"),
    ("/admin/archives", "Archives"),
    ("/admin/storage", "Storage"),
    ("/admin/instance", "Instance"),
    ("/admin/no-such-place", "There is nothing here"),
    ("/admin", "Administration"),
)

DESK: Final = {"width": 1280, "height": 900}
PHONE: Final = {"width": 360, "height": 740}


def is_fine(visitor: Administrator, *, in_the_dark: bool = True) -> None:
    """axe-core in the light; contrast in the dark; room and targets on a phone."""
    page = visitor.page
    visitor.page_is_accessible()
    if in_the_dark:
        page.emulate_media(color_scheme="dark")
        visitor.page_is_accessible("color-contrast")
        page.emulate_media(color_scheme="light")
    page.set_viewport_size(PHONE)
    visitor.page_fits()
    if in_the_dark:
        visitor.page_is_accessible("target-size")
    page.set_viewport_size(DESK)


def test_every_place_is_accessible_and_fits(visit: MakeVisitor, home: Instance) -> None:
    # Colours that are on their way from one scheme to the other are nobody's.
    visitor: Administrator = visit(kind=Administrator, viewport=DESK, reduced_motion="reduce")
    page, alice = visitor.page, home.person("alice")
    friendship = {"user_id": alice["id"], "target_user_id": home.person("bob")["id"], "type": 1}
    home.call("POST", "/v1/_dev/relationships", friendship)
    visitor.goes_to("/admin")
    visitor.reads("Administration")
    visitor.page_is_accessible()
    visitor.enters(home.world["admin"])
    visitor.sees("Administration")
    for path, heading in PLACES:
        address = path.replace("{alice}", alice["id"]).replace("{guild}", home.world["guild_id"])
        page.evaluate(
            "address => { history.pushState(null, '', address); dispatchEvent(new Event('popstate')); }", address
        )
        page.wait_for_function("() => document.querySelector('#view[aria-busy]') === null")
        visitor.sees(heading)
        is_fine(visitor, in_the_dark=path in {"/admin/users/{alice}", "/admin/jobs", "/admin"})
    visitor.opens(f"/admin/users/{alice['id']}", "Alice")
    for button in ("Ban", "Change the permissions"):
        visitor.presses(button)
        is_fine(visitor)
        visitor.dialog.get_by_role("button", name="Cancel", exact=True).click()
    page.set_viewport_size(PHONE)
    visitor.presses("Menu")
    visitor.page_is_accessible("target-size", "color-contrast")
    visitor.follows("Jobs")
    visitor.sees("Jobs")
    expect(page.get_by_role("link", name="Audit log")).to_have_count(0)  # the menu is closed again


def test_charts_tell_what_they_show(visit: MakeVisitor, home: Instance) -> None:
    """Half a day of figures with a gap in it, as a picture, as a sentence and as a table."""
    now = int(time.time() * 1_000)
    with sqlite3.connect(f"{home.folder}/chat.sqlite3") as connection:
        for ago in (*range(700, 500, -5), *range(300, 2, -5)):
            row = Figures(
                at=now - ago * 60_000,
                messages=ago,
                requests=10,
                failures=ago == 600,
                latencies={bucket_of(4): 9, bucket_of(900): 1},
                online=7,
                sessions=9,
                lag_us=12_000,
                memory_bytes=80_000_000,
                database_bytes=5_000_000,
            )
            figures.take_in(connection, row, now)
    visitor: Administrator = visit(kind=Administrator, viewport=DESK, reduced_motion="reduce")
    visitor.goes_to("/admin")
    visitor.enters(home.world["admin"])
    visitor.sees("Administration")
    charts = visitor.place.locator("figure.chart")
    charts.last.wait_for()
    expect(charts).to_have_count(7)
    people = visitor.place.get_by_role("img", name=re.compile(r"^People online: \d+ at last, at most \d+\. Sessions: "))
    people.locator("path.line.first").nth(1).wait_for(
        state="attached"
    )  # a gap parts the line; a level part has no height
    visitor.place.get_by_role(
        "img", name=re.compile(r"^Median: .* m?s at last, .* 99 of 100: .* m?s at last")
    ).wait_for()
    requests = charts.filter(has_text="Requests")
    requests.get_by_text("Numbers").click()
    requests.get_by_role("row").nth(5).wait_for()
    requests.get_by_text("Numbers").click()
    is_fine(visitor, in_the_dark=True)
    charts.first.locator("svg").hover()
    charts.first.get_by_text(re.compile(r"^Messages: \d+$")).wait_for()
    visitor.presses("Last week")
    visitor.place.get_by_role("button", name="Last week", pressed=True).wait_for()
    is_fine(visitor)


# The tables of the console, held against what the server declares

ASK: Final = """async () => {
  const folder = document.querySelector('script[src]').src.replace(/[^/]+$/, '');
  const load = (name) => import(folder + name);
  const { READS, BLOCKLISTS, blocklistRead } = await load('admin_operations.js');
  const { ACCOUNT_ACTIONS } = await load('admin_account_actions.js');
  const { GUILD_ACTIONS } = await load('admin_guild_actions.js');
  const { OTHER_ACTIONS, BLOCKLIST_ACTIONS } = await load('admin_other_actions.js');
  const { membersOf } = await load('admin_fields.js');
  const registries = await load('admin_registries.js');
  const { instance } = await load('admin_instance_facts.js');
  const { ask, administrator } = await load('admin_session.js');
  const user = administrator();
  const guild = (await ask(READS.guilds, {})).guilds[0];
  const whole = (await ask(READS.guild, { params: { guild_id: guild.id } })).guild;
  const { acls } = await instance();
  const context = { user: { ...user, pending_deletion_at: '2030-01-01T00:00:00.000Z' }, me: user, guild: whole, acls,
    key: { name: 'k', acls: [] }, banEntryId: '1', category: 'friend', value: 'v', userId: null,
    policy: { ...(await ask(READS.policy)), overridden: ['registration'] },
    limits: await ask(READS.limits),
    instance: await instance() };
  const ofLists = Object.entries(BLOCKLIST_ACTIONS).flatMap(([kind, lists]) =>
    Object.entries(lists).map(([list, action]) => [`${kind}_${list}`, action]));
  const row = ([name, action]) => ({ name, ...action, fields: undefined,
    members: (action.fields?.(context) ?? []).flatMap(membersOf) });
  const plain = (value) => JSON.parse(JSON.stringify(value));
  return plain({
    reads: [...Object.values(READS), ...BLOCKLISTS.map(([name]) => blocklistRead(name))],
    accounts: Object.entries(ACCOUNT_ACTIONS).map(row),
    others: [...Object.entries(GUILD_ACTIONS), ...Object.entries(OTHER_ACTIONS), ...ofLists].map(row),
    blocklists: BLOCKLISTS.map(([name]) => name),
    registries: { ...registries, PREMIUM_TYPES: [...registries.PREMIUM_TYPES.keys()] },
  });
}"""

BODY_MEMBERS_ELSEWHERE: Final[dict[tuple[str, str], set[str]]] = {
    ("PATCH", "/v1/admin/guilds/{guild_id}"): {"nsfw_level", "settings"},
}
"""Members that say again what another one says."""


def declared() -> dict[tuple[str, str], AdminOperation]:
    """Every administrative operation."""
    operations = [operation for routes in ADMIN_ROUTES for operation in routes.operations]
    return {(one.method, one.path): one for one in operations if isinstance(one, AdminOperation)}


def test_the_console_offers_what_the_server_declares(administrator: Administrator, home: Instance) -> None:
    administrator.goes_to("/admin")
    administrator.reads("Administration")
    administrator.enters(home.world["admin"])
    administrator.sees("Administration")
    tables = administrator.page.evaluate(ASK)
    operations = declared()

    # Every operation on accounts is offered, and all that is offered is there, for whom it is declared.
    offered: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in [*tables["reads"], *tables["accounts"], *tables["others"]]:
        offered.setdefault((row["method"], row["path"]), []).append(row)
    assert [key for key in offered if key not in operations] == []
    accounts = {key for key in operations if key[1] == "/v1/admin/users" or key[1].startswith("/v1/admin/users/")}
    assert accounts - offered.keys() == set()
    assert operations.keys() - offered.keys() == set()
    for key, rows in offered.items():
        wanted = [set(map(str, entry)) for entry in operations[key].acls or ()]
        asked = [[{entry} if isinstance(entry, str) else set(entry) for entry in row["acls"]] for row in rows]
        if len(wanted) == 1 and len(rows) > 1:
            assert set().union(*(names for row in asked for names in row)) == wanted[0], key
        else:
            assert all(row == wanted for row in asked), key

    # What is asked for are the members of the body, or of the query.
    for key, rows in offered.items():
        rows = [row for row in rows if "members" in row]
        if not rows or key[0] == "GET":
            continue
        operation = operations[key]
        shape = operation.query if rows[0].get("query") else operation.body
        members = {name for row in rows for name in row["members"] if name not in row.get("inPath", ())}
        known = set() if shape is None else {field.name for field in attrs.fields(shape)}
        assert members == known - BODY_MEMBERS_ELSEWHERE.get(key, set()), key

    # The words for numbers are the server's.
    registries = tables["registries"]
    for name, flags in (
        ("FLAGS", UserFlag),
        ("PREMIUM_FLAGS", PremiumFlag),
        ("DISABLED_OPERATIONS", DisabledOperation),
    ):
        assert [row[:2] for row in registries[name]] == [[one.bit_length() - 1, one.name] for one in flags], name
    reasons = [(row[0], row[1], len(row) > 3) for row in registries["DELETION_REASONS"]]
    assert reasons == [(one.value, one.name, one in RESOLVED_BY_DELETION) for one in DeletionReason]
    assert registries["PREMIUM_TYPES"] == list(map(int, PremiumType))
    assert registries["GUILD_FEATURES"] == list(map(str, GuildFeature))
    assert registries["AUDIT_TARGETS"] == list(map(str, AdminTarget))
    assert registries["JOB_STATUSES"] == list(map(str, JobStatus))
    assert registries["JOB_TYPES"] == list(map(str, JobType))
    assert registries["REPORT_KINDS"] == list(map(str, ReportKind))
    assert registries["REPORT_CATEGORIES"] == list(map(str, ReportCategory))
    assert tables["blocklists"] == list(map(str, Blocklist))
    assert (registries["DAYS_MINIMUM"], registries["DAYS_MINIMUM_ON_REQUEST"]) == (
        MINIMUM_DAYS,
        MINIMUM_DAYS_ON_REQUEST,
    )

    # Whoever administers finds the way there in their settings.
    session = {"token": home.world["admin"]["token"], "name": "Admin"}
    administrator.page.evaluate("session => localStorage.setItem('session', JSON.stringify(session))", session)
    administrator.goes_to("/settings")
    administrator.follows("Administration")
    administrator.sees("Administration")


def test_a_reported_message_goes_and_its_author_is_banned(visit: MakeVisitor) -> None:
    with instance() as home:
        bob, carol = home.person("bob"), home.person("carol")
        channel = home.world["channel_id"]
        path = f"/v1/channels/{channel}/messages"
        message = home.call("POST", path, {"content": "buy this"}, token=bob["token"])["id"]
        body = {"channel_id": channel, "message_id": message, "category": "spam"}
        home.call("POST", "/v1/reports/message", body, token=carol["token"])
        visitor: Administrator = visit(home, kind=Administrator)
        visitor.goes_to("/admin/reports")
        visitor.enters(home.world["admin"])
        visitor.sees("Reports")
        visitor.place.locator("table time").first.click()
        visitor.sees("Report of a message")
        visitor.acts("Delete the message", "Delete the message")
        visitor.is_told("The message is deleted.")
        assert home.call("GET", path, token=carol["token"]) == []
        visitor.acts("Ban", "Ban", reason="Spam")
        visitor.is_told("The account is banned until")
        visitor.acts("Resolve", "Resolve")
        visitor.is_told("The report is resolved.")
        visitor.place.get_by_text("buy this").first.wait_for()
        visitor.page_is_accessible()
        actions = [entry["action"] for entry in entries(home)]
        assert {"delete_message", "temp_ban", "resolve_report"} <= {*actions}
        assert "get_user" not in actions, "nothing was read that nobody looked at"
        visitor.leaves()
