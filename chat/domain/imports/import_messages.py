"""Makes messages of this guild out of records: with everybody's present id in place of the one that they had, and
nothing that would show more here than the export has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from chat.classes import define
from chat.domain.core import Core
from chat.domain.imports.import_place import ImportPlace, KnownChannel
from chat.domain.imports.import_report import ImportReport
from chat.domain.policy.component_trees import placed_components, read_components, require_own_files
from chat.errors import ApiError, InvalidFormBody
from chat.imports.form import MessageRecord, TroubleRecord
from chat.markdown.inline import mentions_in
from chat.registries.components import ComponentPlace
from chat.registries.message_types import POINTING_MESSAGE_TYPES, MessageFlag, MessageReferenceType, MessageType
from chat.snowflake import snowflake_time_ms
from chat.store.imports.portions import GivenReaction, ImportedMessage
from chat.store.messages.attachments import Attachment
from chat.store.messages.message_search_entries import MessageSurroundings
from chat.store.messages.messages import Message, MessageExtra, MessageReference
from chat.store.messages.reactions import Emoji

EMBEDS: Final = 25
STICKERS: Final = 3
PART_BYTES: Final = 262_144
"""Of embeds, components and what was passed on, together."""

EMOJI_CHARACTERS: Final = 100
NAME_CHARACTERS: Final = 100
HAS_THREAD: Final = MessageFlag.HAS_THREAD.value
SECOND_FORM: Final = MessageFlag.IS_COMPONENTS_V2.value
REFERENCE_TYPES: Final = frozenset(map(int, MessageReferenceType))

Component = Mapping[str, Any]


@define(eq=False)
class MessageMaking:
    """Makes the messages of one import."""

    _core: Core
    _place: ImportPlace
    _report: ImportReport

    def author_of(self, record: MessageRecord) -> int:
        """Who wrote it, as the tables have it: an account, or an id that no webhook here has."""
        of = self._place.account_of if record.webhook_name is None else self._place.webhook_of
        return of(record.author_id)

    def message(self, record: MessageRecord, files: tuple[Attachment, ...]) -> ImportedMessage | None:
        """The message with its files, which are stored; None, and the report has it, where it does not come along."""
        place, channel = self._place, self._place.channels[record.channel_id]
        reason = self._reason_against(record)
        if reason is not None:
            self.refuse(record, reason)
            return None
        author_id = self.author_of(record)
        reactions = tuple(self._reactions(record)) if record.reactions else ()
        components = self._components(record, files) if record.components else ()
        content = record.content
        message = Message(
            id=record.id,
            channel_id=record.channel_id,
            author_id=author_id,
            type=record.type,
            content=self._text(content) if "<@" in content else content,
            flags=self._flags(record, components),
            webhook_id=None if record.webhook_name is None else author_id,
            edited_at=None if record.edited_at is None else self._since(record, record.edited_at),
            pinned_at=self._since(record, record.pinned_at or 0) if record.pinned else None,
            mention_everyone=record.mention_everyone,
            tts=record.tts,
            reference=None if record.reference is None else self._reference(record, channel),
            extra=self._extra(record, len(files), components),
            has_reactions=bool(reactions),
            mentioned_user_ids=_each(place.account_of, record.mentions),
            mentioned_role_ids=_each(self._role, record.mention_roles),
            attachments=files,
        )
        parent_id = channel.parent_id if channel.is_thread else None
        around = MessageSurroundings(place.guild_id, channel.type, parent_id, author_id in place.bots)
        return ImportedMessage(message, reactions, record.author_id, around, channel.is_thread)

    def refuse(self, record: MessageRecord, reason: str) -> None:
        """The message does not come along."""
        self._lose("message", str(record.id), reason)

    def _lose(self, what: str, name: str, reason: str) -> None:
        self._report.trouble(TroubleRecord(what=what, name=name, reason=reason))

    def _reason_against(self, record: MessageRecord) -> str | None:
        if record.embeds or record.snapshot is not None or record.components or record.stickers:
            if len(record.embeds) > EMBEDS or len(record.stickers) > STICKERS:
                return "too large"
            if _is_longer([*record.embeds, *record.components, *record.stickers, record.snapshot], PART_BYTES):
                return "too large"
        blocked = self._core.blocked
        try:
            blocked.require_text(record.content)
            blocked.require_embeds(record.embeds)
            if record.snapshot is not None:
                blocked.require_text(str(record.snapshot.get("content", "")))
                blocked.require_embeds(record.snapshot.get("embeds", ()))
        except ApiError:
            return "blocked"
        return None

    def _flags(self, record: MessageRecord, components: Sequence[Component]) -> int:
        """A message shows the thread that has its id: only one that hangs right below its own channel."""
        thread = self._place.channels.get(record.id)
        has_thread = thread is not None and thread.is_thread and thread.parent_id == record.channel_id
        flags = record.flags & ~HAS_THREAD
        if not components:
            flags &= ~SECOND_FORM
        return flags | HAS_THREAD if has_thread else flags

    def _since(self, record: MessageRecord, moment: int) -> int:
        """A moment between that of the message and now."""
        return min(max(moment, snowflake_time_ms(record.id)), self._core.clock.now_ms())

    def _role(self, role_id: int) -> int:
        return self._place.role_ids.get(role_id, role_id)

    # Texts

    def _text(self, text: str) -> str:
        """The text with everybody's present id: under the old one somebody else may be here."""
        said: list[str] = []
        at = 0
        for mention in mentions_in(text):
            if mention.kind in ("user", "role"):
                old = int(mention.value)
                new = f"<@&{self._role(old)}>" if mention.kind == "role" else f"<@{self._place.account_of(old)}>"
                said += (text[at : mention.start], new)
                at = mention.end
        return "".join([*said, text[at:]])

    def _texts_in(self, value: Any) -> Any:
        """Part of a message with the same done to every text in it."""
        if isinstance(value, str):
            return self._text(value) if "<@" in value else value
        if isinstance(value, list | tuple):
            return [self._texts_in(one) for one in value]
        return {name: self._texts_in(one) for name, one in value.items()} if isinstance(value, dict) else value

    # What few messages have

    def _extra(self, record: MessageRecord, files: int, components: Sequence[Component]) -> MessageExtra | None:
        snapshot = record.snapshot
        if not (files or record.embeds or record.stickers or components or snapshot) and record.webhook_name is None:
            return None
        given: Mapping[str, Any] = {
            "webhook_name": None if record.webhook_name is None else record.webhook_name[:NAME_CHARACTERS],
            "attachments": files,
            "embeds": self._texts_in(record.embeds),
            "stickers": record.stickers,
            "snapshots": () if snapshot is None else (self._snapshot(snapshot),),
            "components": self._texts_in(components),
        }
        return MessageExtra(**given)

    def _snapshot(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        shown = dict(self._texts_in(dict(given)))
        renamed: Mapping[str, Callable[[int], int]] = {"mentions": self._place.account_of, "mention_roles": self._role}
        for name, of in renamed.items():
            if name in shown:
                shown[name] = [str(of(int(one))) for one in shown[name]]
        return shown

    def _components(self, record: MessageRecord, files: Sequence[Attachment]) -> Sequence[Component]:
        form = ComponentPlace.SECOND_FORM if record.flags & SECOND_FORM else ComponentPlace.FIRST_FORM
        try:
            found = placed_components(read_components([dict(one) for one in record.components]), form)
            require_own_files(found, files)
            self._core.blocked.require_components(found)
        except ApiError as error:
            self._lose(
                "components", str(record.id), "not readable" if isinstance(error, InvalidFormBody) else "blocked"
            )
            return ()
        return [self._with_present_choices(one) for one in found]

    def _with_present_choices(self, given: Component) -> Component:
        """A component in which people and roles that are chosen from the beginning have their present ids."""
        kinds: Mapping[str, Callable[[int], int]] = {"user": self._place.account_of, "role": self._role}
        shown = dict(given)
        if "default_values" in given:
            shown["default_values"] = [
                {**one, "id": str(kinds[one["type"]](int(one["id"])))} if one["type"] in kinds else one
                for one in given["default_values"]
            ]
        if "components" in given:
            shown["components"] = [self._with_present_choices(one) for one in given["components"]]
        return shown

    def _reference(self, record: MessageRecord, channel: KnownChannel) -> MessageReference | None:
        """What it answers: a message of its own channel, or of that above a thread, since it is shown with that. What
        only points somewhere, or carries what it passes on, may point anywhere."""
        given = record.reference
        if given is None:
            return None
        kind = given.type if given.type in REFERENCE_TYPES else MessageReferenceType.REPLY.value
        points = record.type in POINTING_MESSAGE_TYPES or record.snapshot is not None
        starts = record.type == MessageType.THREAD_STARTER_MESSAGE and given.channel_id == channel.parent_id
        if not points and not starts and given.channel_id != record.channel_id:
            self._lose("reference", str(record.id), "no channel")
            return None
        guild_id = self._place.guild_id if given.channel_id in self._place.channels else None
        return MessageReference(given.channel_id, given.message_id, guild_id, kind)

    def _reactions(self, record: MessageRecord) -> Iterator[GivenReaction]:
        for reaction in record.reactions:
            people = _each(self._place.account_of, reaction.user_ids)
            if not people:
                self._lose("reaction", f"{record.id}/{reaction.name}", "nobody is named")
            elif not 0 < len(reaction.name) <= EMOJI_CHARACTERS:
                self._lose("reaction", f"{record.id}/{reaction.name}", "unknown kind")
            else:
                yield GivenReaction(Emoji(reaction.name, reaction.emoji_id, reaction.animated), people)


def _each(of: Callable[[int], int], ids: Sequence[int]) -> tuple[int, ...]:
    """What the ids have become, each once and in order."""
    return tuple(sorted(set(map(of, ids)))) if ids else ()


def _is_longer(value: object, most: int) -> bool:
    return len(json.dumps(value)) > most
