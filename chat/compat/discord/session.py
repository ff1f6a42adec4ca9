"""A session that was begun at the mount: it hears what its intents ask for, in the words of the mount.

What it numbers and retains are the translated events, so replay, restart and delivery are those of every session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import attrs
import orjson

from chat.classes import define
from chat.compat.discord.events import Translator
from chat.compat.discord.intents import Intent
from chat.compat.discord.objects import ALLOWED_INTENTS
from chat.compat.discord.sockets import MOUNT
from chat.gateway.session import GatewaySession
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries.events import EventName

API_VERSION: Final = 10

LARGE_THRESHOLD: Final = 50
"""How many members a guild that is told whole has at most, unless Identify names another number."""
LARGE_THRESHOLD_MAXIMUM: Final = 250

OF_OURS: Final = frozenset(
    {
        "country_code",
        "favorite_memes",
        "notes",
        "pinned_dms",
        "presences",
        "read_states",
        "relationships",
        "rtc_regions",
        "sessions",
        "user_guild_settings",
        "user_settings",
        "users",
        "version",
        "webauthn_credentials",
    }
)
"""Members of Ready that belong to clients of this server's own protocol."""


@define(eq=False, weakref_slot=False)
class MountedSession(GatewaySession):
    """`intents` and `large_threshold`, up to which a guild comes with every member, are those of its Identify;
    `resume_url` is what Ready names, which a revived session has sent."""

    mount: ClassVar[str] = MOUNT

    intents: int = attrs.field(kw_only=True)
    translator: Translator = attrs.field(kw_only=True)
    large_threshold: int = attrs.field(default=LARGE_THRESHOLD, kw_only=True)
    application_id: str = attrs.field(default="", kw_only=True)
    resume_url: str = attrs.field(default="", kw_only=True)

    def kept_besides(self) -> Mapping[str, Any]:
        return {"intents": self.intents, "large_threshold": self.large_threshold}

    def take_ready(self) -> OutgoingEvent:
        return OutgoingEvent(EventName.READY, orjson.dumps(self._ready(orjson.loads(super().take_ready().data))))

    def _ready(self, data: Mapping[str, Any]) -> Mapping[str, object]:
        application = {"id": self.application_id or data["user"]["id"], "flags": ALLOWED_INTENTS}
        theirs = {name: member for name, member in data.items() if name not in OF_OURS}
        return {"v": API_VERSION, **theirs, "application": application, "resume_gateway_url": self.resume_url}

    def dispatch(self, event: OutgoingEvent) -> None:
        if self.starting is not None:
            self._hold_back(self.starting, event)
            return
        for each in self.told(event):
            self._take(each)

    def told(self, event: OutgoingEvent) -> Sequence[OutgoingEvent]:
        forms = event.forms
        form = None if forms is None else forms.get(self.intents)
        if form is None:
            if event.name == EventName.GUILD_CREATE and self.intents & Intent.GUILD_MEMBERS:
                event = self.translator.with_members(event, self.large_threshold)
            form = self.translator.form(event, self.intents)
        return (form,) if isinstance(form, OutgoingEvent) else form.of(self.user_id)

    def _take(self, translated: OutgoingEvent) -> None:
        if self.receiver is not None:
            self.receiver.deliver(self._numbering.number(translated), translated)
        else:
            self.numbering.number(translated)

    def dispatch_run(self, run: EventRun) -> None:
        if self.starting is None:
            forms = run.forms
            form = None if forms is None else forms.get(self.intents)
            if form is None:
                form = self.translator.run(run, self.intents)
            if isinstance(form, EventRun):
                super().dispatch_run(form)
                return
            if self.user_id not in form.exempt:
                if form.run is not None:
                    super().dispatch_run(form.run)
                return
        for event in run.events:
            self.dispatch(event)
