"""The poll of a message's body, and how it is stored (messages.md, Polls)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from chat import wire
from chat.api.fields import Items, Length, Range, Snowflake
from chat.classes import frozen
from chat.domain.messages.message_drafts import PollDraft
from chat.errors import InvalidFormBody
from chat.protocol.visible_text import without_nul
from chat.registries.error_codes import FieldCode
from chat.registries.limits import POLL_ANSWER_CHARACTERS, POLL_ANSWERS, POLL_HOURS, POLL_QUESTION_CHARACTERS
from chat.registries.unicode_emojis import fully_qualified

EMOJI_CHARACTERS: Final = 64
DEFAULT_HOURS: Final = 24


@frozen
class PollEmojiBody:
    """An emoji of a guild by its `id`, or a character as its `name`."""

    id: Snowflake | None = None
    name: Annotated[str, Length(0, EMOJI_CHARACTERS)] | None = None
    animated: bool = False


@frozen(kw_only=True)
class PollQuestionBody:
    """What is asked."""

    text: Annotated[str, Length(1, POLL_QUESTION_CHARACTERS)]


@frozen
class PollMediaBody:
    """An answer: words, an emoji, or both."""

    text: Annotated[str, Length(0, POLL_ANSWER_CHARACTERS)] | None = None
    emoji: PollEmojiBody | None = None


@frozen(kw_only=True)
class PollAnswerBody:
    """An answer that may be given; the server numbers them from 1, in their order."""

    poll_media: PollMediaBody


@frozen(kw_only=True)
class PollBody:
    """A poll: 1 to 10 answers, open for `duration` hours."""

    question: PollQuestionBody
    answers: Annotated[list[PollAnswerBody], Items(1, POLL_ANSWERS)]
    duration: Annotated[int, Range(1, POLL_HOURS)] = DEFAULT_HOURS
    allow_multiselect: bool = False
    layout_type: Literal[1] = 1


def poll_draft(body: PollBody) -> PollDraft:
    """The poll that a body asks for. White space around a text does not belong to it.

    :raises InvalidFormBody: BASE_TYPE_REQUIRED for a question or an answer in which nothing stands; INVALID_FORMAT for
        a name that is not an emoji.
    """
    question = without_nul(body.question.text).strip()
    if not question:
        raise InvalidFormBody.at("poll.question.text", FieldCode.BASE_TYPE_REQUIRED)
    answers = [
        {"answer_id": index + 1, "poll_media": _media(each.poll_media, f"poll.answers.{index}.poll_media")}
        for index, each in enumerate(body.answers)
    ]
    asked = {
        "question": {"text": question},
        "answers": answers,
        "allow_multiselect": body.allow_multiselect,
        "layout_type": body.layout_type,
    }
    return PollDraft(asked, body.duration)


def _media(body: PollMediaBody, path: str) -> wire.PollMedia:
    text = without_nul(body.text or "").strip()
    media: wire.PollMedia = {"text": text} if text else {}
    emoji = body.emoji
    if emoji is not None and emoji.id is not None:
        media["emoji"] = {"id": str(emoji.id), "name": emoji.name or None, "animated": emoji.animated}
    elif emoji is not None and emoji.name:
        named = fully_qualified(emoji.name)
        if named is None:
            raise InvalidFormBody.at(f"{path}.emoji.name", FieldCode.INVALID_FORMAT)
        media["emoji"] = {"id": None, "name": named}
    if not media:
        raise InvalidFormBody.at(f"{path}.text", FieldCode.BASE_TYPE_REQUIRED)
    return media
