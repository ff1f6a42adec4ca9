"""What other services tell a webhook, as content and embeds (conventions of the field): the events of GitHub that are
watched in a channel; the incidents, maintenances and changing components of an Instatus status page; messages in the
form that Slack's incoming webhooks take, with Slack's markup.

Deliveries come from outside and may hold anything: what is missing or of another kind is left out, and what says
nothing to people gives no embed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from chat.domain.webhooks.built_embeds import (
    Embed,
    Field,
    Named,
    built_embed,
    fitting,
    inner,
    list_at,
    moment,
    shortened,
    text_at,
)

COMMITS_SHOWN: Final = 10
COMMIT_CHARACTERS: Final = 72
BODY_CHARACTERS: Final = 1_000

GREEN: Final = 0x2DA44E
RED: Final = 0xCF222E
PURPLE: Final = 0x8250DF
BLUE: Final = 0x0969DA
GREY: Final = 0x6E7781
YELLOW: Final = 0xD4A72C
ORANGE: Final = 0xE8590C

Delivery = Mapping[str, Any]


def github_embed(event: str, delivery: Delivery) -> Embed | None:
    """What a delivery shows; `event` is what X-GitHub-Event says. None for one that shows nothing."""
    show = _EVENTS.get(event)
    return None if show is None else show(delivery)


def _of_github(delivery: Delivery, title: str, url: str, *, description: str = "", color: int = GREY) -> Embed | None:
    repository = text_at(delivery, "repository", "full_name")
    return built_embed(
        title=f"[{repository}] {title}" if repository else title,
        url=url,
        description=shortened(description, BODY_CHARACTERS),
        color=color,
        author=_sender(delivery),
    )


def _sender(delivery: Delivery) -> Named:
    name, url, icon_url = (text_at(delivery, "sender", member) for member in ("login", "html_url", "avatar_url"))
    return Named(name=name, url=url, icon_url=icon_url)


def _url(delivery: Delivery, part: str) -> str:
    return text_at(delivery, part, "html_url")


def _push(delivery: Delivery) -> Embed | None:
    kind, _, branch = text_at(delivery, "ref").removeprefix("refs/").partition("/")
    commits = [commit for commit in list_at(delivery, "commits") if isinstance(commit, Mapping)]
    if kind != "heads" or inner(delivery, "deleted") is True:
        return None
    place = f"{text_at(delivery, 'repository', 'name')}:{branch}"
    compare = text_at(delivery, "compare")
    if not commits:
        if inner(delivery, "forced") is not True:
            return None
        title = f"Branch {branch} was force-pushed to `{text_at(delivery, 'after')[:7]}`"
        return _of_github(delivery, title, compare, color=RED)
    lines = [_commit_line(commit) for commit in commits[:COMMITS_SHOWN]]
    if len(commits) > COMMITS_SHOWN:
        lines.append(f"… and {len(commits) - COMMITS_SHOWN} more")
    count = "1 new commit" if len(commits) == 1 else f"{len(commits)} new commits"
    one = text_at(commits[0], "url") if len(commits) == 1 else ""
    return built_embed(
        title=f"[{place}] {count}",
        url=one or compare,
        description="\n".join(lines),
        color=BLUE,
        author=_sender(delivery),
    )


def _commit_line(commit: Mapping[str, Any]) -> str:
    words = (text_at(commit, "message").splitlines() or [""])[0]
    author = text_at(commit, "author", "username") or text_at(commit, "author", "name")
    return f"[`{text_at(commit, 'id')[:7]}`]({text_at(commit, 'url')}) {shortened(words, COMMIT_CHARACTERS)} - {author}"


def _created(delivery: Delivery) -> Embed | None:
    return _of_reference(delivery, "New {kind} created: {name}", GREEN)


def _deleted(delivery: Delivery) -> Embed | None:
    return _of_reference(delivery, "{Kind} deleted: {name}", RED)


def _of_reference(delivery: Delivery, words: str, color: int) -> Embed | None:
    kind, name = text_at(delivery, "ref_type"), text_at(delivery, "ref")
    if kind not in {"branch", "tag"} or not name:
        return None
    title = words.format(kind=kind, Kind=kind.capitalize(), name=name)
    return _of_github(delivery, title, _url(delivery, "repository"), color=color)


def _fork(delivery: Delivery) -> Embed | None:
    fork = text_at(delivery, "forkee", "full_name")
    return _of_github(delivery, f"Fork created: {fork}", _url(delivery, "forkee")) if fork else None


def _star(delivery: Delivery) -> Embed | None:
    if text_at(delivery, "action") not in {"started", "created"}:
        return None
    return _of_github(delivery, "New star added", _url(delivery, "repository"), color=YELLOW)


def _published(delivery: Delivery) -> Embed | None:
    return _of_github(delivery, "Now open source", _url(delivery, "repository"), color=GREEN)


def _member(delivery: Delivery) -> Embed | None:
    login = text_at(delivery, "member", "login")
    if text_at(delivery, "action") != "added" or not login:
        return None
    return _of_github(delivery, f"New collaborator added: {login}", _url(delivery, "member"), color=GREEN)


_ISSUE_COLOURS: Final = {"opened": GREEN, "reopened": GREEN, "closed": PURPLE}


def _issue(delivery: Delivery) -> Embed | None:
    action = text_at(delivery, "action")
    if action not in _ISSUE_COLOURS:
        return None
    body = text_at(delivery, "issue", "body") if action == "opened" else ""
    title = f"Issue {action}: {_numbered(delivery, 'issue')}"
    return _of_github(delivery, title, _url(delivery, "issue"), description=body, color=_ISSUE_COLOURS[action])


_PULL_REQUESTS: Final = {
    "opened": ("opened", GREEN),
    "reopened": ("reopened", GREEN),
    "ready_for_review": ("ready for review", GREEN),
    "closed": ("closed", RED),
}


def _pull_request(delivery: Delivery) -> Embed | None:
    action = text_at(delivery, "action")
    if action not in _PULL_REQUESTS:
        return None
    words, color = _PULL_REQUESTS[action]
    if action == "closed" and inner(delivery, "pull_request", "merged") is True:
        words, color = "merged", PURPLE
    body = text_at(delivery, "pull_request", "body") if action == "opened" else ""
    title = f"Pull request {words}: {_numbered(delivery, 'pull_request')}"
    return _of_github(delivery, title, _url(delivery, "pull_request"), description=body, color=color)


def _comment_on_issue(delivery: Delivery) -> Embed | None:
    on = "pull request" if inner(delivery, "issue", "pull_request") is not None else "issue"
    return _comment(delivery, f"New comment on {on} {_numbered(delivery, 'issue')}")


def _comment_on_commit(delivery: Delivery) -> Embed | None:
    return _comment(delivery, f"New comment on commit `{text_at(delivery, 'comment', 'commit_id')[:7]}`")


def _comment_on_review(delivery: Delivery) -> Embed | None:
    return _comment(delivery, f"New review comment on pull request {_numbered(delivery, 'pull_request')}")


def _comment_on_discussion(delivery: Delivery) -> Embed | None:
    return _comment(delivery, f"New comment on discussion {_numbered(delivery, 'discussion')}")


def _comment(delivery: Delivery, title: str) -> Embed | None:
    if text_at(delivery, "action") != "created":
        return None
    url, body = _url(delivery, "comment"), text_at(delivery, "comment", "body")
    return _of_github(delivery, title, url, description=body)


_REVIEWS: Final = {"approved": ("approved", GREEN), "changes_requested": ("changes requested", RED)}


def _review(delivery: Delivery) -> Embed | None:
    state, body = text_at(delivery, "review", "state"), text_at(delivery, "review", "body")
    if text_at(delivery, "action") != "submitted" or (state not in _REVIEWS and not body):
        return None
    words, color = _REVIEWS.get(state, ("reviewed", GREY))
    title = f"Pull request {words}: {_numbered(delivery, 'pull_request')}"
    return _of_github(delivery, title, _url(delivery, "review"), description=body, color=color)


def _release(delivery: Delivery) -> Embed | None:
    name = text_at(delivery, "release", "name") or text_at(delivery, "release", "tag_name")
    if text_at(delivery, "action") != "published" or not name:
        return None
    url, body = _url(delivery, "release"), text_at(delivery, "release", "body")
    return _of_github(delivery, f"New release published: {name}", url, description=body, color=GREEN)


def _discussion(delivery: Delivery) -> Embed | None:
    title, url = _numbered(delivery, "discussion"), _url(delivery, "discussion")
    match text_at(delivery, "action"):
        case "created":
            body = text_at(delivery, "discussion", "body")
            return _of_github(delivery, f"New discussion {title}", url, description=body, color=GREEN)
        case "answered":
            answer = _url(delivery, "answer") or url
            body = text_at(delivery, "answer", "body")
            return _of_github(delivery, f"Discussion answered: {title}", answer, description=body, color=PURPLE)
    return None


_CONCLUSIONS: Final = {"success": GREEN, "failure": RED, "timed_out": RED, "action_required": YELLOW}


def _check(part: str) -> Callable[[Delivery], Embed | None]:
    def show(delivery: Delivery) -> Embed | None:
        conclusion = text_at(delivery, part, "conclusion")
        if text_at(delivery, "action") != "completed" or conclusion not in _CONCLUSIONS:
            return None
        name = text_at(delivery, part, "name") or text_at(delivery, part, "app", "name") or "Checks"
        branch = text_at(delivery, part, "head_branch") or text_at(delivery, part, "check_suite", "head_branch")
        url = _url(delivery, part) or _url(delivery, "repository")
        outcome = conclusion.replace("_", " ")
        title = f"{name}: {outcome} on {branch}" if branch else f"{name}: {outcome}"
        return _of_github(delivery, title, url, color=_CONCLUSIONS[conclusion])

    return show


def _numbered(delivery: Delivery, part: str) -> str:
    return f"#{text_at(delivery, part, 'number')} {text_at(delivery, part, 'title')}"


_EVENTS: Final[Mapping[str, Callable[[Delivery], Embed | None]]] = {
    "check_run": _check("check_run"),
    "check_suite": _check("check_suite"),
    "commit_comment": _comment_on_commit,
    "create": _created,
    "delete": _deleted,
    "discussion": _discussion,
    "discussion_comment": _comment_on_discussion,
    "fork": _fork,
    "issue_comment": _comment_on_issue,
    "issues": _issue,
    "member": _member,
    "public": _published,
    "pull_request": _pull_request,
    "pull_request_review": _review,
    "pull_request_review_comment": _comment_on_review,
    "push": _push,
    "release": _release,
    "watch": _star,
}


_STATUS_COLOURS: Final = {
    "OPERATIONAL": GREEN,
    "RESOLVED": GREEN,
    "COMPLETED": GREEN,
    "NOTSTARTEDYET": BLUE,
    "SCHEDULED": BLUE,
    "INPROGRESS": BLUE,
    "VERIFYING": BLUE,
    "UNDERMAINTENANCE": BLUE,
    "MINOROUTAGE": YELLOW,
    "DEGRADEDPERFORMANCE": YELLOW,
    "MONITORING": YELLOW,
    "PARTIALOUTAGE": ORANGE,
    "IDENTIFIED": ORANGE,
    "INVESTIGATING": RED,
    "MAJOROUTAGE": RED,
}
"""By a status or an impact, without what some of them have between their words."""

Notice = Mapping[str, Any]


def instatus_embed(notice: Notice) -> Embed | None:
    """What a notice shows; None for one that shows nothing."""
    for part, updates in (("incident", "incident_updates"), ("maintenance", "maintenance_updates")):
        if isinstance(inner(notice, part), Mapping):
            return _of_event(notice, part, updates)
    return _of_component(notice)


def _of_event(notice: Notice, part: str, updates: str) -> Embed | None:
    name, status, impact = (text_at(notice, part, member) for member in ("name", "status", "impact"))
    if not name:
        return None
    latest = _latest(list_at(notice, part, updates))
    words = text_at(latest, "body") or text_at(latest, "markdown")
    fields = [Field("Status", _words(text_at(latest, "status") or status), inline=True)]
    if impact:
        fields.append(Field("Impact", _words(impact), inline=True))
    shown = inner(latest, "created_at") or inner(notice, part, "updated_at") or inner(notice, part, "created_at")
    is_over = _key(status) in {"RESOLVED", "COMPLETED"}
    return built_embed(
        title=name,
        url=text_at(notice, part, "url") or text_at(notice, "page", "url"),
        description=words,
        color=_STATUS_COLOURS.get(_key(status if is_over or not impact else impact), GREY),
        fields=fields,
        footer=_page(notice),
        timestamp=moment(shown),
    )


def _latest(updates: object) -> object:
    """The newest update: they come in either order."""
    found = [update for update in updates if isinstance(update, Mapping)] if isinstance(updates, list | tuple) else []
    return max(found, key=lambda update: text_at(update, "created_at"), default=None)


def _of_component(notice: Notice) -> Embed | None:
    name = text_at(notice, "component", "name")
    status = text_at(notice, "component_update", "new_status") or text_at(notice, "component", "status")
    if not name or not status:
        return None
    before = text_at(notice, "component_update", "old_status")
    return built_embed(
        title=name,
        url=text_at(notice, "page", "url"),
        description=f"{_words(before)} → {_words(status)}" if before else _words(status),
        color=_STATUS_COLOURS.get(_key(status), GREY),
        footer=_page(notice),
        timestamp=moment(inner(notice, "component_update", "created_at")),
    )


def _page(notice: Notice) -> Named | None:
    words = text_at(notice, "page", "status_description")
    return Named(name=words) if words else None


_SPELLED: Final = {
    "OPERATIONAL": "Operational",
    "UNDERMAINTENANCE": "Under maintenance",
    "DEGRADEDPERFORMANCE": "Degraded performance",
    "MINOROUTAGE": "Minor outage",
    "PARTIALOUTAGE": "Partial outage",
    "MAJOROUTAGE": "Major outage",
    "NOTSTARTEDYET": "Not started yet",
    "INPROGRESS": "In progress",
}


def _words(status: str) -> str:
    """A status as people read it."""
    return _SPELLED.get(_key(status)) or status.replace("_", " ").capitalize()


def _key(status: str) -> str:
    return "".join(character for character in status if character.isalnum()).upper()


_SLACK_COLOURS: Final = {"good": 0x2EB67D, "warning": 0xECB22E, "danger": 0xE01E5A}
_SLACK_COLOUR: Final = re.compile(r"#?([0-9a-fA-F]{6})", re.ASCII)
_REFERENCE: Final = re.compile(r"<([^\s<>|][^<>\n|]{0,2047})(?:\|([^<>\n]{0,2048}))?>")
_ESCAPED: Final = re.compile(r"&(amp|lt|gt);")
_ESCAPES: Final = {"amp": "&", "lt": "<", "gt": ">"}
_BROADCASTS: Final = {"!channel": "@everyone", "!everyone": "@everyone", "!group": "@everyone", "!here": "@here"}

SlackMessage = Mapping[str, Any]


def slack_content(message: SlackMessage) -> str:
    """The text of the message."""
    lines = [text_at(message, "text")]
    lines += [text_at(attachment, "pretext") for attachment in list_at(message, "attachments")]
    return "\n".join(in_our_markup(line) for line in lines if line.strip()).strip()


def slack_embeds(message: SlackMessage, maximum: int) -> tuple[Embed, ...]:
    """The attachments of the message, at most so many."""
    return fitting((_of_slack(attachment) for attachment in list_at(message, "attachments")), maximum)


def in_our_markup(text: str) -> str:
    """Slack's links, mentions of all and escapes as ours."""
    return _ESCAPED.sub(lambda match: _ESCAPES[match[1]], _REFERENCE.sub(_reference, text))


def _reference(match: re.Match[str]) -> str:
    target, label = match[1], match[2]
    if target.startswith("!"):
        return _BROADCASTS.get(target.partition("^")[0], label or "")
    if target.startswith(("http://", "https://")):
        return f"[{label}]({target})" if label else target
    if target.startswith("mailto:"):
        return label or target.removeprefix("mailto:")
    if target.startswith(("@", "#")):  # Slack's own accounts and channels, of which only the name means anything here
        return f"{target[0]}{label}" if label else target
    return label or target


def _of_slack(attachment: object) -> Embed | None:
    shows_something = any(inner(attachment, member) for member in ("text", "pretext", "title", "fields", "image_url"))
    text = text_at(attachment, "text") if shows_something else text_at(attachment, "fallback")
    return built_embed(
        title=in_our_markup(text_at(attachment, "title")),
        url=text_at(attachment, "title_link"),
        description=in_our_markup(text),
        color=_color(text_at(attachment, "color")),
        timestamp=moment(inner(attachment, "ts")),
        author=Named(
            name=text_at(attachment, "author_name"),
            url=text_at(attachment, "author_link"),
            icon_url=text_at(attachment, "author_icon"),
        ),
        footer=Named(name=text_at(attachment, "footer"), icon_url=text_at(attachment, "footer_icon")),
        fields=[
            Field(
                in_our_markup(text_at(field, "title")),
                in_our_markup(text_at(field, "value")),
                inline=inner(field, "short") is True,
            )
            for field in list_at(attachment, "fields")
        ],
        image=text_at(attachment, "image_url"),
        thumbnail=text_at(attachment, "thumb_url"),
    )


def _color(text: str) -> int | None:
    match = _SLACK_COLOUR.fullmatch(text)
    return _SLACK_COLOURS.get(text) if match is None else int(match[1], 16)
