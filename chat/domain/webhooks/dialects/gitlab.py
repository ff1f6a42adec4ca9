"""The hooks of GitLab, those of projects and of groups: pushes and tags, issues, merge requests, notes, wikis,
pipelines, jobs, deployments, releases and what else is watched in a channel.

What is missing or of another kind is left out, and what says nothing to people gives no embed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from chat.domain.webhooks.built_embeds import Embed, Field, Named, built_embed, inner, list_at, shortened, text_at
from chat.domain.webhooks.dialects.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, YELLOW

COMMITS_SHOWN: Final = 10
JOBS_SHOWN: Final = 10
COMMIT_CHARACTERS: Final = 72
BODY_CHARACTERS: Final = 1_000

Delivery = Mapping[str, Any]


def gitlab_embed(delivery: Delivery) -> Embed | None:
    """What a delivery shows; None for one that shows nothing."""
    kind = text_at(delivery, "object_kind") or text_at(delivery, "event_type") or text_at(delivery, "event_name")
    show = _KINDS.get(kind)
    return None if show is None else show(delivery)


def _of_gitlab(
    delivery: Delivery,
    title: str,
    url: str,
    *,
    description: str = "",
    color: int = GREY,
    fields: tuple[Field, ...] = (),
) -> Embed | None:
    project = _project(delivery)
    return built_embed(
        title=f"[{project}] {title}" if project else title,
        url=url or text_at(delivery, "project", "web_url"),
        description=shortened(description, BODY_CHARACTERS),
        color=color,
        author=_actor(delivery),
        fields=fields,
    )


def _project(delivery: Delivery) -> str:
    return (
        text_at(delivery, "project", "path_with_namespace")
        or text_at(delivery, "path_with_namespace")
        or text_at(delivery, "project_name")
    )


def _actor(delivery: Delivery) -> Named:
    name = text_at(delivery, "user", "name") or text_at(delivery, "user", "username")
    if name:
        return Named(name, icon_url=text_at(delivery, "user", "avatar_url"))
    return Named(
        text_at(delivery, "user_name") or text_at(delivery, "user_username"), icon_url=text_at(delivery, "user_avatar")
    )


def _of(delivery: Delivery, member: str) -> str:
    return text_at(delivery, "object_attributes", member)


def _is_nothing(revision: str) -> bool:
    """Whether a revision says that there is none: it is made of zeros."""
    return revision != "" and not revision.strip("0")


def _push(delivery: Delivery) -> Embed | None:
    branch = text_at(delivery, "ref").removeprefix("refs/heads/")
    before, after, web = (
        text_at(delivery, "before"),
        text_at(delivery, "after"),
        text_at(delivery, "project", "web_url"),
    )
    commits = [commit for commit in list_at(delivery, "commits") if isinstance(commit, Mapping)]
    if _is_nothing(after):
        return _of_gitlab(delivery, f"Branch deleted: {branch}", web, color=RED)
    if not commits:
        return _of_gitlab(delivery, f"New branch created: {branch}", web, color=GREEN) if _is_nothing(before) else None
    total = max(len(commits), _whole(inner(delivery, "total_commits_count")))
    shown = commits[-COMMITS_SHOWN:]
    lines = [_commit_line(commit) for commit in shown]
    if total > len(shown):
        lines.append(f"… and {total - len(shown)} more")
    compare = f"{web}/-/compare/{before}...{after}" if web and not _is_nothing(before) else text_at(commits[-1], "url")
    count = "1 new commit" if total == 1 else f"{total} new commits"
    url = text_at(commits[0], "url") if total == 1 else compare
    return built_embed(
        title=f"[{_project(delivery)}:{branch}] {count}",
        url=url,
        description="\n".join(lines),
        color=BLUE,
        author=_actor(delivery),
    )


def _whole(value: object) -> int:
    return value if type(value) is int else 0


def _commit_line(commit: Mapping[str, Any]) -> str:
    words = text_at(commit, "title") or (text_at(commit, "message").splitlines() or [""])[0]
    named = shortened(words, COMMIT_CHARACTERS)
    return f"[`{text_at(commit, 'id')[:8]}`]({text_at(commit, 'url')}) {named} - {text_at(commit, 'author', 'name')}"


def _tag(delivery: Delivery) -> Embed | None:
    tag, web = text_at(delivery, "ref").removeprefix("refs/tags/"), text_at(delivery, "project", "web_url")
    if not tag:
        return None
    if _is_nothing(text_at(delivery, "after")):
        return _of_gitlab(delivery, f"Tag deleted: {tag}", web, color=RED)
    url, told = f"{web}/-/tags/{tag}" if web else "", text_at(delivery, "message")
    return _of_gitlab(delivery, f"New tag: {tag}", url, description=told, color=GREEN)


Actions = Mapping[str, tuple[str, int]]
"""What an action is called, and its colour."""

_ISSUES: Final[Actions] = {"open": ("opened", GREEN), "reopen": ("reopened", GREEN), "close": ("closed", PURPLE)}
_REQUESTS: Final[Actions] = {
    **_ISSUES,
    "close": ("closed", RED),
    "merge": ("merged", PURPLE),
    "approved": ("approved", GREEN),
    "unapproved": ("approval withdrawn", YELLOW),
}
_MILESTONES: Final[Actions] = {"create": ("created", GREEN), "reopen": ("reopened", GREEN), "close": ("closed", PURPLE)}
_PAGES: Final[Actions] = {"create": ("created", GREEN), "update": ("changed", BLUE), "delete": ("deleted", RED)}


def _numbered(sign: str, noun: str, actions: Actions) -> Callable[[Delivery], Embed | None]:
    """Something with a number, a title and a text, which is shown when it opens."""

    def show(delivery: Delivery) -> Embed | None:
        if _of(delivery, "action") not in actions:
            return None
        words, color = actions[_of(delivery, "action")]
        named = text_at(delivery, "object_attributes", "type") if noun == "Issue" else ""
        title = f"{named or noun} {words}: {sign}{_of(delivery, 'iid')} {_of(delivery, 'title')}"
        body = _of(delivery, "description") if words == "opened" else ""
        return _of_gitlab(delivery, title, _of(delivery, "url"), description=body, color=color)

    return show


def _titled(noun: str, actions: Actions) -> Callable[[Delivery], Embed | None]:
    def show(delivery: Delivery) -> Embed | None:
        if _of(delivery, "action") not in actions:
            return None
        words, color = actions[_of(delivery, "action")]
        told = _of(delivery, "message") or _of(delivery, "description")
        title = f"{noun} {words}: {_of(delivery, 'title')}"
        return _of_gitlab(delivery, title, _of(delivery, "url"), description=told, color=color)

    return show


_NOTED: Final = {"MergeRequest": ("merge request", "merge_request", "!"), "Issue": ("issue", "issue", "#")}


def _note(delivery: Delivery) -> Embed | None:
    if _of(delivery, "action") not in {"", "create"} or not _of(delivery, "note"):
        return None
    kind = _of(delivery, "noteable_type")
    if kind in _NOTED:
        noun, part, sign = _NOTED[kind]
        on = f"{noun} {sign}{text_at(delivery, part, 'iid')} {text_at(delivery, part, 'title')}"
    elif kind == "Commit":
        on = f"commit `{text_at(delivery, 'commit', 'id')[:8]}`"
    else:
        on = f"{kind.lower() or 'something'} {text_at(delivery, 'snippet', 'title')}".rstrip()
    return _of_gitlab(delivery, f"New comment on {on}", _of(delivery, "url"), description=_of(delivery, "note"))


_RUNS: Final = {"success": GREEN, "failed": RED, "canceled": GREY}


def _pipeline(delivery: Delivery) -> Embed | None:
    status, web = _of(delivery, "status"), text_at(delivery, "project", "web_url")
    if status not in _RUNS:
        return None
    identity = _of(delivery, "id")
    url = _of(delivery, "url") or (f"{web}/-/pipelines/{identity}" if web else "")
    seconds = _of(delivery, "duration")
    failed = [
        f"{text_at(job, 'stage')}: {text_at(job, 'name')}"
        for job in list_at(delivery, "builds")
        if text_at(job, "status") == "failed" and inner(job, "allow_failure") is not True
    ]
    fields = [Field("Duration", f"{seconds} s", inline=True)] if seconds else []
    if failed:
        more = [f"… and {len(failed) - JOBS_SHOWN} more"] if len(failed) > JOBS_SHOWN else []
        fields.append(Field("Failed jobs", "\n".join([*failed[:JOBS_SHOWN], *more])))
    title = f"Pipeline #{identity} {status} on {_of(delivery, 'ref')}"
    told = text_at(delivery, "commit", "title") or text_at(delivery, "commit", "message")
    return _of_gitlab(delivery, title, url, description=told, color=_RUNS[status], fields=tuple(fields))


def _job(delivery: Delivery) -> Embed | None:
    status, name = text_at(delivery, "build_status"), text_at(delivery, "build_name")
    if status not in _RUNS:
        return None
    web = text_at(delivery, "project", "web_url") or text_at(delivery, "repository", "homepage")
    url = f"{web}/-/jobs/{text_at(delivery, 'build_id')}" if web else ""
    why = text_at(delivery, "build_failure_reason").replace("_", " ") if status == "failed" else ""
    title = f"Job {name} {status} on {text_at(delivery, 'ref')}"
    return _of_gitlab(delivery, title, url, description="" if why == "unknown failure" else why, color=_RUNS[status])


def _deployment(delivery: Delivery) -> Embed | None:
    status, place = text_at(delivery, "status"), text_at(delivery, "environment")
    colour = {**_RUNS, "running": BLUE}.get(status)
    if colour is None or not place:
        return None
    url = text_at(delivery, "environment_external_url") or text_at(delivery, "deployable_url")
    return _of_gitlab(
        delivery, f"Deployment to {place}: {status}", url, description=text_at(delivery, "commit_title"), color=colour
    )


_RELEASES: Final = {"create": ("New release published", GREEN), "delete": ("Release deleted", RED)}


def _release(delivery: Delivery) -> Embed | None:
    name = text_at(delivery, "name") or text_at(delivery, "tag")
    if text_at(delivery, "action") not in _RELEASES or not name:
        return None
    words, color = _RELEASES[text_at(delivery, "action")]
    told = text_at(delivery, "description")
    return _of_gitlab(delivery, f"{words}: {name}", text_at(delivery, "url"), description=told, color=color)


def _feature_flag(delivery: Delivery) -> Embed | None:
    name, active = _of(delivery, "name"), inner(delivery, "object_attributes", "active")
    if not name:
        return None
    title = f"Feature flag {name} is {'on' if active is True else 'off'}"
    return _of_gitlab(delivery, title, "", description=_of(delivery, "description"), color=BLUE)


def _vulnerability(delivery: Delivery) -> Embed | None:
    title, severity = _of(delivery, "title"), _of(delivery, "severity")
    if not title:
        return None
    colour = {"resolved": GREEN, "dismissed": GREY}.get(_of(delivery, "state"), RED)
    fields = (Field("Severity", severity, inline=True), Field("State", _of(delivery, "state"), inline=True))
    return _of_gitlab(delivery, f"Vulnerability: {title}", _of(delivery, "url"), color=colour, fields=fields)


def _access_token(delivery: Delivery) -> Embed | None:
    name, day = _of(delivery, "name"), _of(delivery, "expires_at")
    return _of_gitlab(delivery, f"Access token {name} expires on {day}", "", color=ORANGE) if name and day else None


_MEMBERS: Final = {
    "user_add_to_group": "New member of {group}: {name}",
    "user_remove_from_group": "Member of {group} removed: {name}",
    "user_add_to_team": "New member: {name}",
    "user_remove_from_team": "Member removed: {name}",
}


def _member(delivery: Delivery) -> Embed | None:
    words = _MEMBERS.get(text_at(delivery, "event_name"))
    name = text_at(delivery, "user_name") or text_at(delivery, "user_username")
    if words is None or not name:
        return None
    group = text_at(delivery, "group_name")
    project = text_at(delivery, "project_path_with_namespace")
    told = words.format(group=group, name=name)
    return built_embed(title=f"[{project}] {told}" if project else told, color=BLUE)


_KINDS: Final[Mapping[str, Callable[[Delivery], Embed | None]]] = {
    "access_token": _access_token,
    "build": _job,
    "deployment": _deployment,
    "feature_flag": _feature_flag,
    "issue": _numbered("#", "Issue", _ISSUES),
    "work_item": _numbered("#", "Issue", _ISSUES),
    "merge_request": _numbered("!", "Merge request", _REQUESTS),
    "milestone": _titled("Milestone", _MILESTONES),
    "note": _note,
    "pipeline": _pipeline,
    "push": _push,
    "release": _release,
    "tag_push": _tag,
    "user_add_to_group": _member,
    "user_add_to_team": _member,
    "user_remove_from_group": _member,
    "user_remove_from_team": _member,
    "vulnerability": _vulnerability,
    "wiki_page": _titled("Wiki page", _PAGES),
}
"""By `object_kind`; hooks of members have only `event_name`. Confidential ones have the same kinds. Reactions say
nothing."""
