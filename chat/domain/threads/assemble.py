"""Puts the area together: threads, forums and their posts."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.messages.assemble import MessagesArea
from chat.domain.standing.assemble import StandingArea
from chat.domain.threads.posts import Posts
from chat.domain.threads.thread_changes import ThreadArchiving, ThreadChanges
from chat.domain.threads.thread_lists import ThreadLists
from chat.domain.threads.threads import Threads


@frozen(kw_only=True)
class ThreadsArea:
    threads: Threads
    thread_lists: ThreadLists
    thread_changes: ThreadChanges
    thread_archiving: ThreadArchiving
    posts: Posts

    @property
    def background(self) -> Background:
        """What runs as long as the server does."""
        return (self.thread_archiving.run,)


def assemble(core: Core, standing: StandingArea, messages: MessagesArea) -> ThreadsArea:
    """Build the area."""
    archiving = ThreadArchiving(core)
    threads = Threads(core, lookup=standing.thread_lookup, system_messages=messages.system_messages)
    return ThreadsArea(
        threads=threads,
        thread_lists=ThreadLists(core=core),
        thread_changes=ThreadChanges(core=core, threads=threads, archiving=archiving),
        thread_archiving=archiving,
        posts=Posts(core=core, sending=messages.sending),
    )
