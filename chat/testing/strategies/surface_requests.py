"""Request bodies of webhooks in every dialect, of uploads before their message, and of links, valid and invalid
(guilds.md, Channels)."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chat.testing.strategies.message_requests import NO_ADDRESSES, WEB_ADDRESSES, embeds, invalid_embeds
from chat.testing.strategies.values import Body, all_but, names

_NUMBERS = st.integers(-(1 << 53), 1 << 53) | st.floats(-1e15, 1e15)
_ANYTHING = st.recursive(
    st.none() | st.booleans() | _NUMBERS | names(0, 20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names(1, 8), inner, max_size=3),
    max_leaves=5,
)
"""What other services may tell: JSON whose numbers every body may hold."""


def webhook_bodies() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/webhooks."""
    return st.fixed_dictionaries({"name": names(1, 24)}, optional={"avatar": st.none()})


def webhook_executions() -> st.SearchStrategy[Body]:
    """POST /v1/webhooks/{webhook_id}/{token}, outside of forums."""
    return st.fixed_dictionaries(
        {"content": names(1, 200)},
        optional={
            "username": names(1, 24) | st.just("") | st.none(),
            "avatar_url": WEB_ADDRESSES | st.none(),
            "embeds": st.lists(embeds(), max_size=3),
            "tts": st.booleans(),
            "flags": st.sampled_from([0, 1 << 2, 1 << 12]),
            "allowed_mentions": st.sampled_from([None, {"parse": []}, {"parse": ["users", "roles"]}]),
        },
    )


def invalid_webhook_executions() -> st.SearchStrategy[Any]:
    """What no webhook can say."""
    wrong = st.one_of(
        st.fixed_dictionaries({"content": all_but(str, type(None)) | st.just("x" * 4_001)}),
        st.fixed_dictionaries({"username": all_but(str, type(None)) | st.just("x" * 81)}),
        st.fixed_dictionaries({"avatar_url": NO_ADDRESSES}),
        st.fixed_dictionaries({"embeds": st.lists(invalid_embeds(), min_size=1, max_size=2)}),
        st.fixed_dictionaries({"message_reference": st.just({"message_id": "1"})}),
        st.fixed_dictionaries({"thread_name": st.sampled_from(["a post", 5, "x" * 101])}),
    )
    return wrong.map(lambda members: {"content": "x", **members})


def slack_messages() -> st.SearchStrategy[Body]:
    """POST /v1/webhooks/{webhook_id}/{token}/slack."""
    attachment = st.fixed_dictionaries(
        {"text": names(1, 100)},
        optional={
            "title": names(0, 300),
            "title_link": WEB_ADDRESSES | NO_ADDRESSES,
            "color": st.sampled_from(["good", "danger", "#123456", "red", ""]),
            "fields": st.lists(st.fixed_dictionaries({"title": names(0, 20), "value": names(0, 20)}), max_size=30),
            "ts": _NUMBERS | names(),
            "image_url": WEB_ADDRESSES | NO_ADDRESSES,
        },
    )
    return st.fixed_dictionaries(
        {"text": names(1, 200)},
        optional={"username": names(1, 24), "icon_url": names(), "attachments": st.lists(attachment, max_size=12)},
    )


GITHUB_EVENTS = st.sampled_from(
    ["push", "issues", "pull_request", "issue_comment", "release", "check_run", "ping", "x"]
)
"""What X-GitHub-Event may say."""


def github_deliveries() -> st.SearchStrategy[Body]:
    """POST /v1/webhooks/{webhook_id}/{token}/github: objects of anything."""
    told = st.dictionaries(
        st.sampled_from(["title", "number", "html_url", "body", "name", "login", "full_name", "conclusion", "message"]),
        _ANYTHING | names() | WEB_ADDRESSES,
        max_size=5,
    )
    return st.fixed_dictionaries(
        {"action": st.sampled_from(["opened", "closed", "created", "published", "completed", "labeled"])},
        optional={
            "issue": told, "pull_request": told, "comment": told, "repository": told, "sender": told, "release": told,
            "check_run": told, "commits": st.lists(told, max_size=12), "ref": st.sampled_from(["refs/heads/a", "x"]),
            "forced": st.booleans(),
        },
    )  # fmt: skip


def instatus_notices() -> st.SearchStrategy[Body]:
    """POST /v1/webhooks/{webhook_id}/{token}/instatus: objects of anything."""
    told = st.dictionaries(
        st.sampled_from(["name", "status", "impact", "url", "created_at", "incident_updates", "new_status"]),
        _ANYTHING | names() | st.sampled_from(["RESOLVED", "MAJOROUTAGE"]),
        max_size=6,
    )
    parts = ("page", "incident", "maintenance", "component", "component_update")
    return st.fixed_dictionaries({}, optional=dict.fromkeys(parts, told))


def upload_promises() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/attachments."""
    file = st.fixed_dictionaries(
        {"filename": names(1, 60), "file_size": st.integers(1, 10_000)},
        optional={"id": st.integers(0, 9) | st.integers(0, 9).map(str)},
    )
    return st.lists(file, min_size=1, max_size=3).map(lambda files: {"files": files})


def invalid_upload_promises() -> st.SearchStrategy[Any]:
    """What promises nothing."""
    good = {"filename": "a", "file_size": 1}
    wrong = st.one_of(
        st.just({}),
        st.fixed_dictionaries({"filename": all_but(str) | st.just("") | st.just("x" * 1_025)}),
        st.fixed_dictionaries({"file_size": st.sampled_from([0, -1, 1.5, "1", True, None, 1 << 60])}),
        st.fixed_dictionaries({"id": st.sampled_from([1.5, True, [], "x" * 33])}),
    )
    one_by_one = wrong.map(lambda members: {"files": [{**good, **members} if members else {}]})
    return one_by_one | st.sampled_from(
        [{}, {"files": []}, {"files": "x"}, {"files": [good] * 11}, {"files": [good] * 101}]
    )


def invalid_links() -> st.SearchStrategy[Any]:
    """POST /v1/unfurl with what is no link."""
    return (NO_ADDRESSES | all_but(str, type(None))).map(lambda url: {"url": url})
