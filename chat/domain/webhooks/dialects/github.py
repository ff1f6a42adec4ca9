"""The events of GitHub, and of services that send the same, which are watched in a channel.

Deliveries come from outside and may hold anything: what is missing or of another kind is left out, and what says
nothing to people gives no embed: an event that nobody knows, most actions of those that are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from chat.domain.webhooks.built_embeds import Embed, Named, built_embed, inner, list_at, shortened, text_at
from chat.domain.webhooks.dialects.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, YELLOW

COMMITS_SHOWN: Final = 10
COMMIT_CHARACTERS: Final = 72
BODY_CHARACTERS: Final = 1_000

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


_CONCLUSIONS: Final = {
    "success": GREEN,
    "failure": RED,
    "startup_failure": RED,
    "timed_out": RED,
    "action_required": YELLOW,
    "cancelled": GREY,
}


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


_DEPLOYMENTS: Final = {"success": GREEN, "failure": RED, "error": RED, "in_progress": BLUE, "queued": GREY}


def _deployment(delivery: Delivery) -> Embed | None:
    place, ref = (text_at(delivery, "deployment", member) for member in ("environment", "ref"))
    if not place:
        return None
    title = f"Deployment of {ref} to {place} created" if ref else f"Deployment to {place} created"
    return _of_github(delivery, title, _url(delivery, "repository"), color=BLUE)


def _deployed(delivery: Delivery) -> Embed | None:
    state, place = text_at(delivery, "deployment_status", "state"), text_at(delivery, "deployment", "environment")
    if state not in _DEPLOYMENTS or not place:
        return None
    told = text_at(delivery, "deployment_status", "description")
    url = next(
        filter(None, (text_at(delivery, "deployment_status", name) for name in ("environment_url", "log_url"))), ""
    )
    title = f"Deployment to {place}: {state.replace('_', ' ')}"
    return _of_github(delivery, title, url or _url(delivery, "repository"), description=told, color=_DEPLOYMENTS[state])


_STATES: Final = {"success": GREEN, "failure": RED, "error": RED}


def _status(delivery: Delivery) -> Embed | None:
    """What programs outside say of a commit."""
    state, context = text_at(delivery, "state"), text_at(delivery, "context")
    if state not in _STATES:
        return None
    title = f"{context or 'Status'}: {state} on `{text_at(delivery, 'sha')[:7]}`"
    url = text_at(delivery, "target_url") or _url(delivery, "commit")
    return _of_github(delivery, title, url, description=text_at(delivery, "description"), color=_STATES[state])


def _package(part: str) -> Callable[[Delivery], Embed | None]:
    def show(delivery: Delivery) -> Embed | None:
        name, version = text_at(delivery, part, "name"), text_at(delivery, part, "package_version", "version")
        if text_at(delivery, "action") != "published" or not name:
            return None
        url = text_at(delivery, part, "package_version", "html_url") or _url(delivery, part)
        return _of_github(delivery, f"Package published: {name} {version}".rstrip(), url, color=GREEN)

    return show


def _wiki(delivery: Delivery) -> Embed | None:
    pages = [page for page in list_at(delivery, "pages") if text_at(page, "title")]
    if not pages:
        return None
    lines = [
        f"[{text_at(page, 'title')}]({text_at(page, 'html_url')}) {text_at(page, 'action')}"
        for page in pages[:COMMITS_SHOWN]
    ]
    if len(pages) > COMMITS_SHOWN:
        lines.append(f"… and {len(pages) - COMMITS_SHOWN} more")
    url = text_at(pages[0], "html_url")
    return _of_github(delivery, "Wiki changed", url, description="\n".join(lines), color=BLUE)


_MILESTONES: Final = {"created": GREEN, "opened": GREEN, "closed": PURPLE, "deleted": RED}


def _milestone(delivery: Delivery) -> Embed | None:
    action, title = text_at(delivery, "action"), text_at(delivery, "milestone", "title")
    if action not in _MILESTONES or not title:
        return None
    body = text_at(delivery, "milestone", "description") if action == "created" else ""
    url = _url(delivery, "milestone")
    return _of_github(delivery, f"Milestone {action}: {title}", url, description=body, color=_MILESTONES[action])


_REPOSITORIES: Final = {
    "created": GREEN,
    "unarchived": GREEN,
    "publicized": GREEN,
    "privatized": GREY,
    "archived": GREY,
    "renamed": BLUE,
    "transferred": BLUE,
    "deleted": RED,
}


def _repository(delivery: Delivery) -> Embed | None:
    action = text_at(delivery, "action")
    if action not in _REPOSITORIES:
        return None
    return _of_github(delivery, f"Repository {action}", _url(delivery, "repository"), color=_REPOSITORIES[action])


_MEMBERSHIPS: Final = {"member_added": "New member", "member_invited": "Invited", "member_removed": "Member removed"}


def _organization(delivery: Delivery) -> Embed | None:
    action = text_at(delivery, "action")
    login = text_at(delivery, "membership", "user", "login") or text_at(delivery, "invitation", "login")
    if action not in _MEMBERSHIPS or not login:
        return None
    organization = text_at(delivery, "organization", "login")
    title = f"[{organization}] {_MEMBERSHIPS[action]}: {login}"
    return _of_github(delivery, title, text_at(delivery, "membership", "user", "html_url"))


_ALERT_NAMES: Final = {
    "code_scanning_alert": "Code scanning alert",
    "dependabot_alert": "Dependabot alert",
    "secret_scanning_alert": "Secret scanning alert",
}
_ALERT_COLOURS: Final = {
    "created": RED,
    "reopened": RED,
    "reintroduced": RED,
    "appeared_in_branch": ORANGE,
    "fixed": GREEN,
    "resolved": GREEN,
    "dismissed": GREY,
    "closed_by_user": GREY,
}


def _alert(event: str) -> Callable[[Delivery], Embed | None]:
    def show(delivery: Delivery) -> Embed | None:
        action = text_at(delivery, "action")
        if action not in _ALERT_COLOURS:
            return None
        told = (
            text_at(delivery, "alert", "security_advisory", "summary")
            or text_at(delivery, "alert", "rule", "description")
            or text_at(delivery, "alert", "secret_type_display_name")
            or text_at(delivery, "alert", "secret_type")
        )
        title = f"{_ALERT_NAMES[event]} {action.replace('_', ' ')}: #{text_at(delivery, 'alert', 'number')} {told}"
        return _of_github(delivery, title.rstrip(), _url(delivery, "alert"), color=_ALERT_COLOURS[action])

    return show


def _sponsorship(delivery: Delivery) -> Embed | None:
    sponsor, tier = (
        text_at(delivery, "sponsorship", "sponsor", "login"), text_at(delivery, "sponsorship", "tier", "name"),
    )  # fmt: skip
    if text_at(delivery, "action") != "created" or not sponsor:
        return None
    return _of_github(delivery, f"New sponsor: {sponsor} {tier}".rstrip(), _url(delivery, "sponsorship"), color=PURPLE)


def _page_build(delivery: Delivery) -> Embed | None:
    """A site that could not be built; one that was is told by its deployment."""
    if text_at(delivery, "build", "status") != "errored":
        return None
    told = text_at(delivery, "build", "error", "message")
    return _of_github(delivery, "Building the pages failed", _url(delivery, "repository"), description=told, color=RED)


_EVENTS: Final[Mapping[str, Callable[[Delivery], Embed | None]]] = {
    "check_run": _check("check_run"),
    "check_suite": _check("check_suite"),
    "code_scanning_alert": _alert("code_scanning_alert"),
    "commit_comment": _comment_on_commit,
    "create": _created,
    "delete": _deleted,
    "dependabot_alert": _alert("dependabot_alert"),
    "deployment": _deployment,
    "deployment_status": _deployed,
    "discussion": _discussion,
    "discussion_comment": _comment_on_discussion,
    "fork": _fork,
    "gollum": _wiki,
    "issue_comment": _comment_on_issue,
    "issues": _issue,
    "member": _member,
    "milestone": _milestone,
    "organization": _organization,
    "package": _package("package"),
    "page_build": _page_build,
    "public": _published,
    "pull_request": _pull_request,
    "pull_request_review": _review,
    "pull_request_review_comment": _comment_on_review,
    "push": _push,
    "registry_package": _package("registry_package"),
    "release": _release,
    "repository": _repository,
    "secret_scanning_alert": _alert("secret_scanning_alert"),
    "sponsorship": _sponsorship,
    "star": _star,
    "status": _status,
    "watch": _star,
    "workflow_job": _check("workflow_job"),
    "workflow_run": _check("workflow_run"),
}
"""`ping` says nothing to people; nor do others that tell of settings, or of what another event tells better."""
