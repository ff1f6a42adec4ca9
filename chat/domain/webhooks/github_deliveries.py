"""What GitHub tells a webhook, as an embed: the events that people watch in a channel (conventions of the field).

Deliveries come from outside and may hold anything: what is missing or of another kind is left out, and what says
nothing to people gives no embed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from chat.domain.webhooks.built_embeds import Embed, Named, built_embed, inner, list_at, shortened, text_at

COMMITS_SHOWN: Final = 10
COMMIT_CHARACTERS: Final = 72
BODY_CHARACTERS: Final = 1_000

GREEN: Final = 0x2DA44E
RED: Final = 0xCF222E
PURPLE: Final = 0x8250DF
BLUE: Final = 0x0969DA
GREY: Final = 0x6E7781
YELLOW: Final = 0xD4A72C

Delivery = Mapping[str, Any]


def github_embed(event: str, delivery: Delivery) -> Embed | None:
    """What a delivery shows; `event` is what X-GitHub-Event says. None for one that shows nothing."""
    show = _EVENTS.get(event)
    return None if show is None else show(delivery)


def _embed(delivery: Delivery, title: str, url: str, *, description: str = "", color: int = GREY) -> Embed | None:
    repository = text_at(delivery, "repository", "full_name")
    sender = Named(
        name=text_at(delivery, "sender", "login"),
        url=text_at(delivery, "sender", "html_url"),
        icon_url=text_at(delivery, "sender", "avatar_url"),
    )
    return built_embed(
        title=f"[{repository}] {title}" if repository else title,
        url=url,
        description=shortened(description, BODY_CHARACTERS),
        color=color,
        author=sender,
    )


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
        return _embed(delivery, title, compare, color=RED)
    lines = [_commit_line(commit) for commit in commits[:COMMITS_SHOWN]]
    if len(commits) > COMMITS_SHOWN:
        lines.append(f"… and {len(commits) - COMMITS_SHOWN} more")
    count = "1 new commit" if len(commits) == 1 else f"{len(commits)} new commits"
    one = text_at(commits[0], "url") if len(commits) == 1 else ""
    sender = Named(
        name=text_at(delivery, "sender", "login"),
        url=text_at(delivery, "sender", "html_url"),
        icon_url=text_at(delivery, "sender", "avatar_url"),
    )
    return built_embed(
        title=f"[{place}] {count}", url=one or compare, description="\n".join(lines), color=BLUE, author=sender
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
    return _embed(delivery, title, text_at(delivery, "repository", "html_url"), color=color)


def _fork(delivery: Delivery) -> Embed | None:
    fork = text_at(delivery, "forkee", "full_name")
    return _embed(delivery, f"Fork created: {fork}", text_at(delivery, "forkee", "html_url")) if fork else None


def _star(delivery: Delivery) -> Embed | None:
    if text_at(delivery, "action") not in {"started", "created"}:
        return None
    return _embed(delivery, "New star added", text_at(delivery, "repository", "html_url"), color=YELLOW)


def _published(delivery: Delivery) -> Embed | None:
    return _embed(delivery, "Now open source", text_at(delivery, "repository", "html_url"), color=GREEN)


def _member(delivery: Delivery) -> Embed | None:
    login = text_at(delivery, "member", "login")
    if text_at(delivery, "action") != "added" or not login:
        return None
    return _embed(delivery, f"New collaborator added: {login}", text_at(delivery, "member", "html_url"), color=GREEN)


_ISSUE_COLOURS: Final = {"opened": GREEN, "reopened": GREEN, "closed": PURPLE}


def _issue(delivery: Delivery) -> Embed | None:
    action = text_at(delivery, "action")
    if action not in _ISSUE_COLOURS:
        return None
    body = text_at(delivery, "issue", "body") if action == "opened" else ""
    title = f"Issue {action}: {_numbered(delivery, 'issue')}"
    return _embed(
        delivery, title, text_at(delivery, "issue", "html_url"), description=body, color=_ISSUE_COLOURS[action]
    )


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
    return _embed(delivery, title, text_at(delivery, "pull_request", "html_url"), description=body, color=color)


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
    url, body = text_at(delivery, "comment", "html_url"), text_at(delivery, "comment", "body")
    return _embed(delivery, title, url, description=body)


_REVIEWS: Final = {"approved": ("approved", GREEN), "changes_requested": ("changes requested", RED)}


def _review(delivery: Delivery) -> Embed | None:
    state, body = text_at(delivery, "review", "state"), text_at(delivery, "review", "body")
    if text_at(delivery, "action") != "submitted" or (state not in _REVIEWS and not body):
        return None
    words, color = _REVIEWS.get(state, ("reviewed", GREY))
    title = f"Pull request {words}: {_numbered(delivery, 'pull_request')}"
    return _embed(delivery, title, text_at(delivery, "review", "html_url"), description=body, color=color)


def _release(delivery: Delivery) -> Embed | None:
    name = text_at(delivery, "release", "name") or text_at(delivery, "release", "tag_name")
    if text_at(delivery, "action") != "published" or not name:
        return None
    url, body = text_at(delivery, "release", "html_url"), text_at(delivery, "release", "body")
    return _embed(delivery, f"New release published: {name}", url, description=body, color=GREEN)


def _discussion(delivery: Delivery) -> Embed | None:
    title, url = _numbered(delivery, "discussion"), text_at(delivery, "discussion", "html_url")
    match text_at(delivery, "action"):
        case "created":
            body = text_at(delivery, "discussion", "body")
            return _embed(delivery, f"New discussion {title}", url, description=body, color=GREEN)
        case "answered":
            answer = text_at(delivery, "answer", "html_url") or url
            body = text_at(delivery, "answer", "body")
            return _embed(delivery, f"Discussion answered: {title}", answer, description=body, color=PURPLE)
    return None


_CONCLUSIONS: Final = {"success": GREEN, "failure": RED, "timed_out": RED, "action_required": YELLOW}


def _check(part: str) -> Callable[[Delivery], Embed | None]:
    def show(delivery: Delivery) -> Embed | None:
        conclusion = text_at(delivery, part, "conclusion")
        if text_at(delivery, "action") != "completed" or conclusion not in _CONCLUSIONS:
            return None
        name = text_at(delivery, part, "name") or text_at(delivery, part, "app", "name") or "Checks"
        branch = text_at(delivery, part, "head_branch") or text_at(delivery, part, "check_suite", "head_branch")
        url = text_at(delivery, part, "html_url") or text_at(delivery, "repository", "html_url")
        outcome = conclusion.replace("_", " ")
        title = f"{name}: {outcome} on {branch}" if branch else f"{name}: {outcome}"
        return _embed(delivery, title, url, color=_CONCLUSIONS[conclusion])

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
