"""What other services tell, as embeds and text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.api.embed_bodies import URL_CHARACTERS
from chat.domain.policy.embeds import EMBED_CHARACTERS, require_embeds, texts_of
from chat.domain.webhooks.built_embeds import Named, address, built_embed, fitting, moment
from chat.domain.webhooks.dialects.alertmanager import alertmanager_embed
from chat.domain.webhooks.dialects.github import _EVENTS, github_embed
from chat.domain.webhooks.dialects.gitlab import _KINDS, gitlab_embed
from chat.domain.webhooks.dialects.grafana import grafana_embed
from chat.domain.webhooks.dialects.instatus import instatus_embed
from chat.domain.webhooks.dialects.sentry import _RESOURCES, sentry_embed
from chat.domain.webhooks.dialects.slack import slack_message
from chat.domain.webhooks.dialects.slack_markup import in_our_markup
from tests.growth import is_linear

REPOSITORY = {"name": "tea", "full_name": "hatter/tea", "html_url": "https://git.example/hatter/tea"}
SENDER = {"login": "hare", "html_url": "https://git.example/hare", "avatar_url": "https://git.example/hare.png"}
ISSUE = {"number": 7, "title": "It is late", "html_url": "https://git.example/7", "body": "Very *late*"}
COMMENT = {"html_url": "https://git.example/c", "body": "Indeed", "commit_id": "0123456789abcdef"}


def commit(number: int) -> dict[str, Any]:
    """A commit of a push."""
    return {
        "id": f"{number:040x}", "message": f"Commit {number}\n\nmore", "url": f"https://git.example/{number}",
        "author": {"name": "The Hare", "username": "hare"},
    }  # fmt: skip


def told(event: str, **members: Any) -> dict[str, Any]:
    """The embed of a delivery, without what all of them have."""
    embed = github_embed(event, {"repository": REPOSITORY, "sender": SENDER, **members})
    assert embed is not None
    assert embed.pop("author") == {
        "name": "hare", "url": "https://git.example/hare", "icon_url": "https://git.example/hare.png",
    }  # fmt: skip
    assert (embed.pop("type"), type(embed.pop("color"))) == ("rich", int)
    return embed


@pytest.mark.parametrize(
    ("event", "members", "title", "url", "description"),
    [
        ("create", {"ref_type": "branch", "ref": "cake"}, "New branch created: cake", REPOSITORY["html_url"], None),
        ("delete", {"ref_type": "tag", "ref": "v1"}, "Tag deleted: v1", REPOSITORY["html_url"], None),
        ("fork", {"forkee": {"full_name": "hare/tea", "html_url": "https://git.example/hare/tea"}},
         "Fork created: hare/tea", "https://git.example/hare/tea", None),
        ("watch", {"action": "started"}, "New star added", REPOSITORY["html_url"], None),
        ("public", {}, "Now open source", REPOSITORY["html_url"], None),
        ("member", {"action": "added", "member": SENDER}, "New collaborator added: hare", SENDER["html_url"], None),
        ("issues", {"action": "opened", "issue": ISSUE}, "Issue opened: #7 It is late", ISSUE["html_url"],
         "Very *late*"),
        ("issues", {"action": "closed", "issue": ISSUE}, "Issue closed: #7 It is late", ISSUE["html_url"], None),
        ("issue_comment", {"action": "created", "issue": ISSUE, "comment": COMMENT},
         "New comment on issue #7 It is late", COMMENT["html_url"], "Indeed"),
        ("issue_comment", {"action": "created", "issue": {**ISSUE, "pull_request": {}}, "comment": COMMENT},
         "New comment on pull request #7 It is late", COMMENT["html_url"], "Indeed"),
        ("pull_request", {"action": "opened", "pull_request": ISSUE}, "Pull request opened: #7 It is late",
         ISSUE["html_url"], "Very *late*"),
        ("pull_request", {"action": "closed", "pull_request": ISSUE}, "Pull request closed: #7 It is late",
         ISSUE["html_url"], None),
        ("pull_request", {"action": "closed", "pull_request": {**ISSUE, "merged": True}},
         "Pull request merged: #7 It is late", ISSUE["html_url"], None),
        ("pull_request_review",
         {"action": "submitted", "pull_request": ISSUE, "review": {"state": "approved", "html_url": "https://git.example/r"}},
         "Pull request approved: #7 It is late", "https://git.example/r", None),
        ("pull_request_review_comment", {"action": "created", "pull_request": ISSUE, "comment": COMMENT},
         "New review comment on pull request #7 It is late", COMMENT["html_url"], "Indeed"),
        ("commit_comment", {"action": "created", "comment": COMMENT}, "New comment on commit `0123456`",
         COMMENT["html_url"], "Indeed"),
        ("release",
         {"action": "published",
          "release": {"tag_name": "v1", "name": None, "html_url": "https://git.example/v1", "body": "Cake"}},
         "New release published: v1", "https://git.example/v1", "Cake"),
        ("discussion", {"action": "created", "discussion": ISSUE}, "New discussion #7 It is late", ISSUE["html_url"],
         "Very *late*"),
        ("discussion", {"action": "answered", "discussion": ISSUE, "answer": COMMENT},
         "Discussion answered: #7 It is late", COMMENT["html_url"], "Indeed"),
        ("discussion_comment", {"action": "created", "discussion": ISSUE, "comment": COMMENT},
         "New comment on discussion #7 It is late", COMMENT["html_url"], "Indeed"),
        ("check_run",
         {"action": "completed", "check_run": {"name": "tests", "conclusion": "failure", "html_url": "https://git.example/x",
                                               "check_suite": {"head_branch": "main"}}},
         "tests: failure on main", "https://git.example/x", None),
        ("check_suite",
         {"action": "completed",
          "check_suite": {"conclusion": "timed_out", "head_branch": None, "app": {"name": "CI"}}},
         "CI: timed out", REPOSITORY["html_url"], None),
    ],
)  # fmt: skip
def test_events_that_people_watch(
    event: str, members: dict[str, Any], title: str, url: str, description: str | None
) -> None:
    embed = told(event, **members)
    assert embed == {"title": f"[hatter/tea] {title}", "url": url} | (
        {"description": description} if description else {}
    )


def test_pushes() -> None:
    compare = "https://git.example/compare"
    one = told("push", ref="refs/heads/main", commits=[commit(1)], compare=compare)
    assert one == {
        "title": "[tea:main] 1 new commit", "url": "https://git.example/1",
        "description": "[`0000000`](https://git.example/1) Commit 1 - hare",
    }  # fmt: skip
    many = told("push", ref="refs/heads/a/b", commits=[commit(number) for number in range(12)], compare=compare)
    assert (many["title"], many["url"]) == ("[tea:a/b] 12 new commits", compare)
    assert many["description"].splitlines()[-2:] == [
        "[`0000000`](https://git.example/9) Commit 9 - hare", "… and 2 more",
    ]  # fmt: skip
    forced = told("push", ref="refs/heads/main", commits=[], forced=True, after="abcdef0123", compare=compare)
    assert forced["title"] == "[hatter/tea] Branch main was force-pushed to `abcdef0`"


@pytest.mark.parametrize(
    ("event", "members"),
    [
        ("ping", {"zen": "Keep it simple"}),
        ("nonsense", {}),
        ("", {}),
        ("push", {"ref": "refs/tags/v1", "commits": []}),
        ("push", {"ref": "refs/heads/main", "commits": []}),
        ("push", {"ref": "refs/heads/main", "deleted": True, "commits": [commit(1)]}),
        ("push", {}),
        ("create", {"ref_type": "repository", "ref": "x"}),
        ("watch", {"action": "deleted"}),
        ("issues", {"action": "labeled", "issue": ISSUE}),
        ("pull_request", {"action": "synchronize", "pull_request": ISSUE}),
        ("pull_request_review", {"action": "submitted", "review": {"state": "commented", "body": ""}}),
        ("release", {"action": "edited", "release": {"name": "x"}}),
        ("check_run", {"action": "completed", "check_run": {"name": "x", "conclusion": "neutral"}}),
        ("check_run", {"action": "created", "check_run": {"name": "x", "conclusion": "success"}}),
        ("member", {"action": "added"}),
        ("fork", {"forkee": 5}),
    ],
)
def test_events_of_which_nothing_is_shown(event: str, members: dict[str, Any]) -> None:
    assert github_embed(event, {"repository": REPOSITORY, "sender": SENDER, **members}) is None


PAGE = {"url": "https://status.example", "status_description": "Some trouble"}


def test_an_incident() -> None:
    incident = {
        "name": "The tea is cold", "status": "IDENTIFIED", "impact": "MAJOROUTAGE", "url": "https://status.example/1",
        "created_at": "2026-01-02T03:00:00Z",
        "incident_updates": [
            {"body": "second", "status": "IDENTIFIED", "created_at": "2026-01-02T03:05:00Z"},
            {"body": "first", "status": "INVESTIGATING", "created_at": "2026-01-02T03:00:00Z"},
        ],
    }  # fmt: skip
    assert instatus_embed({"page": PAGE, "incident": incident}) == {
        "type": "rich", "title": "The tea is cold", "url": "https://status.example/1", "description": "second",
        "color": 0xCF222E, "timestamp": "2026-01-02T03:05:00.000Z", "footer": {"text": "Some trouble"},
        "fields": [
            {"name": "Status", "value": "Identified", "inline": True},
            {"name": "Impact", "value": "Major outage", "inline": True},
        ],
    }  # fmt: skip
    over = instatus_embed({"page": PAGE, "incident": {**incident, "status": "RESOLVED", "incident_updates": []}})
    assert over is not None
    assert (over["color"], "description" in over, over["fields"][0]["value"]) == (0x2DA44E, False, "Resolved")


def test_a_maintenance_and_a_component() -> None:
    maintenance = instatus_embed({"page": PAGE, "maintenance": {"name": "Cleaning", "status": "NOTSTARTEDYET"}})
    assert maintenance is not None
    assert (maintenance["title"], maintenance["url"], maintenance["fields"][0]["value"]) == (
        "Cleaning", "https://status.example", "Not started yet",
    )  # fmt: skip
    update = {"new_status": "DEGRADED_PERFORMANCE", "old_status": "OPERATIONAL", "created_at": "2026-01-02T03:00:00Z"}
    component = instatus_embed({"page": PAGE, "component": {"name": "Pot"}, "component_update": update})
    assert component is not None
    assert (component["title"], component["description"], component["color"]) == (
        "Pot", "Operational → Degraded performance", 0xD4A72C,
    )  # fmt: skip
    for nothing in ({}, {"page": PAGE}, {"incident": {}}, {"component": {"name": "x"}}, {"incident": []}):
        assert instatus_embed(nothing) is None


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("plain", "plain"),
        ("<https://x.example>", "https://x.example"),
        ("<https://x.example|a *link*>", "[a \\*link\\*](https://x.example)"),
        ("<mailto:a@x.example|write>", "write"),
        ("<!channel> <!here> <!everyone>", "@everyone @here @everyone"),
        ("<!date^1392734382^{date}|a day>", "a day"),
        ("<@U123|hare> <#C1|tea> <@U1>", "@hare #tea @U1"),
        ("a &lt;b&gt; &amp; c &amp;lt;", "a <b> & c &lt;"),
        ("1 < 2 > 0", "1 < 2 > 0"),
        ("<>", "<>"),
        ("<javascript:alert(1)|x>", "x"),
    ],
)
def test_markup_of_slack(theirs: str, ours: str) -> None:
    assert in_our_markup(theirs) == ours


def test_a_message_of_slack() -> None:
    message = {
        "text": "Hello",
        "attachments": [
            {
                "pretext": "Before", "title": "T", "title_link": "https://x.example", "text": "<https://y.example|y>",
                "color": "danger", "author_name": "A", "author_link": "https://a.example", "ts": 1_767_323_045,
                "fields": [{"title": "F", "value": "V", "short": True}, {"title": "", "value": "no name"}, 5],
                "image_url": "https://x.example/i.png", "thumb_url": "ftp://no", "footer": "Foot",
            },
            {"fallback": "only words", "color": "#00ff7f"},
            {},
            "nonsense",
        ],
    }  # fmt: skip
    content, embeds = slack_message(message, 2_000, 10)
    assert content == "Hello\nBefore"
    assert embeds == (
        {
            "type": "rich", "title": "T", "url": "https://x.example", "description": "[y](https://y.example)",
            "color": 0xE01E5A, "author": {"name": "A", "url": "https://a.example"}, "footer": {"text": "Foot"},
            "timestamp": "2026-01-02T03:04:05.000Z", "image": {"url": "https://x.example/i.png", "flags": 0},
            "fields": [
                {"name": "F", "value": "V", "inline": True}, {"name": "\u200b", "value": "no name", "inline": False},
            ],
        },
        {"type": "rich", "description": "only words", "color": 0x00FF7F},
    )  # fmt: skip
    many = slack_message({"text": "x" * 50, "attachments": [{"text": "x"}] * 20}, 40, 3)
    assert many == ("x" * 25 + "…\n… and 17 more", ({"type": "rich", "description": "x"},) * 3)


def test_what_is_too_long_is_cut() -> None:
    long = built_embed(title="t" * 500, description="d" * 9_000, author=Named(name="a" * 500), url="u")
    assert long is not None
    assert {name: len(value) for name, value in long.items() if name in {"title", "description"}} == {
        "title": 256, "description": 4_096,
    }  # fmt: skip
    assert "url" not in long
    embeds = fitting([long, long, long], 10)
    assert sum(map(len, texts_of(embeds))) <= EMBED_CHARACTERS
    assert [len(embed["description"]) for embed in embeds] == [4_096, EMBED_CHARACTERS - 4_096 - 4 * 256]
    require_embeds(embeds, 10)


def test_fields_that_are_too_many_are_counted() -> None:
    long = "x" * 1_000
    alerts = [{"labels": {"pot": str(number)}, "annotations": {"summary": long}} for number in range(30)]
    embed = alertmanager_embed({"alerts": alerts, "commonAnnotations": {"summary": "y" * 3_000}})
    assert embed is not None
    (fits,) = fitting([embed], 1)
    require_embeds([fits], 1)
    assert (len(fits["description"]), len(fits["fields"])) == (500, 6)
    assert fits["fields"][-1]["value"] == "… and 25 more"
    assert embed["fields"][-1]["value"] == "… and 10 more"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
        ("1767323045.000100", "2026-01-02T03:04:05.000Z"),
        (1_767_323_045, "2026-01-02T03:04:05.000Z"),
        ("2026-01-02T03:04:05", None),
        ("yesterday", None),
        ("", None),
        (-5, None),
        (10**30, None),
        (float("inf"), None),
        (float("nan"), None),
        ("9" * 400, None),
        (True, "1970-01-01T00:00:01.000Z"),
        (None, None),
        ([], None),
    ],
)
def test_moments(value: object, found: str | None) -> None:
    assert moment(value) == found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = [
    "action", "issue", "pull_request", "comment", "number", "title", "body", "html_url", "ref", "ref_type",
    "commits", "commit_id", "state", "review", "release", "name", "check_run", "conclusion", "id", "message",
    "sender", "repository", "login", "incident", "maintenance", "incident_updates", "status", "impact",
    "created_at", "component", "component_update", "new_status", "attachments", "text", "fields", "value", "ts",
    "color", "short", "alerts", "labels", "annotations", "data", "event", "tags", "metric_alert", "error", "pages",
    "object_attributes", "project", "builds", "build_name", "blocks", "elements", "type", "evalMatches", "metric",
    "deployment", "deployment_status", "environment", "package", "workflow_run", "alert", "milestone", "style", "url",
]  # fmt: skip
WORDS = ["section", "rich_text", "rich_text_list", "context", "actions", "image", "table", "create", "failed",
         "opened", "created", "submitted", "published", "completed", "added", "started", "success", "branch", "good",
         "refs/heads/x", "https://x.example/y", "2026-01-02T03:04:05Z", "x" * 5_000]  # fmt: skip
TOLD = st.recursive(
    JSON | st.sampled_from(WORDS),
    lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, max_size=6) | st.lists(inner, max_size=4),
    max_leaves=25,
)


@given(st.sampled_from(sorted(_EVENTS)), st.dictionaries(st.sampled_from(NAMES), TOLD, max_size=8))
def test_nothing_that_is_told_makes_it_fail(event: str, delivery: dict[str, Any]) -> None:
    content, embeds = slack_message(delivery, 2_000, 10)
    assert len(content) <= 2_000
    shown = [gitlab_embed({**delivery, "object_kind": kind}) for kind in _KINDS]
    shown += [github_embed(event, delivery), instatus_embed(delivery), alertmanager_embed(delivery)]
    shown += [grafana_embed(delivery), *(sentry_embed(resource, delivery) for resource in (*_RESOURCES, ""))]
    for embed in shown:
        assert embed is None or len(fitting([embed], 1)) == 1, "one always fits"
    for embed in [*fitting(shown, 10), *embeds]:
        require_embeds([embed], 10)
        assert len(embed.get("url", "")) <= URL_CHARACTERS


@pytest.mark.parametrize(
    ("indent", "shown"), [(None, ""), ("x", ""), (1, "  "), ("2", "    "), (9, " " * 16), ("1" * 5_000, " " * 16)]
)
def test_a_list_is_indented_no_further_than_there_is_room(indent: object, shown: str) -> None:
    entry = {"type": "rich_text_section", "elements": [{"type": "text", "text": "tea"}]}
    part = {"type": "rich_text_list", "indent": indent, "elements": [entry]}
    block = {"type": "rich_text", "elements": [{**part, "indent": 0}, part]}
    content, embeds = slack_message({"blocks": [block]}, 2_000, 10)
    assert f"- tea\n{shown}- tea" in content + str(embeds).replace("\\n", "\n")


@pytest.mark.parametrize("piece", ["<", "<a|", "<!", "&amp", "<https://a|<", "|", "<a"])
def test_the_time_grows_with_the_text_and_no_faster(piece: str) -> None:
    assert is_linear(in_our_markup, lambda length: (piece * length)[:length], 2_000)


@pytest.mark.parametrize(
    "text", ["", "x", "ftp://x", "javascript:x", "https://", "https://u:p@x.example", "http://x:22/"]
)
def test_addresses_that_are_none(text: str) -> None:
    assert address(text) is None
