"""What people do with commands, components and forms, and the first answers of applications (interactions.md,
Interactions; interactions.md, Answers)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Final, Literal

import attrs

from chat import wire
from chat.api.answers import Answer
from chat.api.bodies import parse_json
from chat.api.fields import Length, Snowflake
from chat.api.message_bodies import (
    ComponentBodies,
    CreateMessage,
    EditMessage,
    Nonce,
    attachment_wishes,
    message_draft,
    message_edit,
    new_wishes,
    received_body,
    received_form,
)
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.routes.interactions.command_bodies import Choices
from chat.api.schemas.shapes import NOTHING
from chat.api.structuring import body_structure
from chat.classes import frozen
from chat.domain.interactions.answers import Callback, Form
from chat.domain.interactions.assemble import InteractionsArea
from chat.domain.interactions.command_rules import wrong_choices
from chat.domain.interactions.interactions import Act
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.message_drafts import AttachmentDraft
from chat.domain.messages.uploads import AttachmentWish
from chat.domain.policy.component_trees import placed_components
from chat.errors import FieldError, InvalidFormBody
from chat.registries.components import ComponentPlace
from chat.registries.error_codes import FieldCode
from chat.registries.interactions import CallbackType, InteractionType, OptionType
from chat.registries.message_types import MessageFlag

routes = Routes()

Data = dict[str, Any]
"""What belongs to a type of act or of answer."""

Files = Sequence[AttachmentDraft]

ACT: Final = Bucket("interaction:create", 60, 10_000)
CALLBACK: Final = Bucket("interaction:callback::interaction_id", 10, 10_000, exempt_from_global=True)

WITH_FILES: Final = frozenset({CallbackType.CHANNEL_MESSAGE_WITH_SOURCE, CallbackType.UPDATE_MESSAGE})
"""Answers that bring files."""

SESSION_CHARACTERS: Final = 64
TITLE_CHARACTERS: Final = 45
CUSTOM_ID_CHARACTERS: Final = 100


@frozen(kw_only=True)
class ActBody:
    """What a person does: 2 invokes a command, 3 uses a component, 4 types into an option, 5 submits a form. `data` has
    what belongs to the type; `session_id` is the gateway session that hears what becomes of it."""

    type: Literal[2, 3, 4, 5]
    application_id: Snowflake
    channel_id: Snowflake
    guild_id: Snowflake | None = None
    session_id: Annotated[str, Length(1, SESSION_CHARACTERS)] | None = None
    nonce: Annotated[str, Nonce()] | None = None
    message_id: Snowflake | None = None
    data: Data = attrs.field(factory=dict)


@frozen(kw_only=True)
class CallbackBody:
    """The first answer of an application; `data` has what belongs to the type."""

    type: CallbackType
    data: Data | None = None


@frozen(kw_only=True)
class ChoicesBody:
    """Choices for the option that is being typed."""

    choices: Choices


@frozen(kw_only=True)
class FormDescription:
    """A form that is opened."""

    custom_id: Annotated[str, Length(1, CUSTOM_ID_CHARACTERS)]
    title: Annotated[str, Length(1, TITLE_CHARACTERS)]
    components: ComponentBodies


@frozen
class WithResponse:
    """Whether the answer tells what was made."""

    with_response: bool = False


@routes.operation(
    "POST",
    "/v1/interactions",
    policy=Policy.USER_ONLY,
    bucket=ACT,
    body=ActBody,
    multipart=True,
    empty_strings_are_null=False,
)
async def create_interaction(
    request: Request, messages: MessagesArea, area: InteractionsArea, body: ActBody | None
) -> None:
    """Invoke a command, use a component, type into an option or submit a form. A form brings the files of options."""
    if body is not None:
        await area.interactions.act(request.principal, _act(body, ()))
        return
    uploads, principal = messages.uploads, request.principal
    async with received_form(request, uploads.bringer(principal), ActBody, uploads) as (given, form):
        owner = uploads.owner(principal, given.channel_id)
        wishes = [AttachmentWish(number) for number in range(len(form.files))]
        async with uploads.of_form(owner, form, wishes) as files:
            await area.interactions.act(principal, _act(given, files))


def _act(body: ActBody, files: Files) -> Act:
    return Act(
        type=InteractionType(body.type),
        application_id=body.application_id,
        channel_id=body.channel_id,
        guild_id=body.guild_id,
        session_id=body.session_id,
        nonce=body.nonce,
        data=body.data,
        message_id=body.message_id,
        files=files,
    )


@routes.operation(
    "POST",
    "/v1/interactions/{interaction_id}/{token}/callback",
    policy=Policy.URL,
    bucket=CALLBACK,
    body=CallbackBody,
    multipart=True,
    empty_strings_are_null=False,
    answers=lambda: {200: wire.InteractionCallback, 204: NOTHING},
)
async def answer_interaction(
    request: Request,
    messages: MessagesArea,
    area: InteractionsArea,
    interaction_id: int,
    token: str,
    query: WithResponse,
    body: CallbackBody | None,
) -> Answer:
    """Answer an interaction for the first time, within three seconds."""
    told = area.answers.first(interaction_id, token)
    owner = messages.uploads.webhook_owner(told.bot.id, told.access.channel.id, request.guard)
    async with received_body(request, owner, CallbackBody, body, _wishes, messages.uploads) as (given, files):
        area.answers.require_fitting(told, given.type)
        if files and given.type not in WITH_FILES:
            raise InvalidFormBody.at("files", FieldCode.NOT_FOR_THIS_TYPE)
        with _below_data():
            message = await area.answers.answer(told, READERS[given.type](given.type, given.data or {}, files))
    if not query.with_response:
        return Answer(204)
    of: wire.AnsweredInteraction = {"id": str(interaction_id), "type": told.interaction.type}
    resource: wire.CallbackResource = {"type": given.type.value}
    if message is not None:
        of["response_message_id"] = message["id"]
        of["response_message_loading"] = bool(message["flags"] & MessageFlag.LOADING)
        of["response_message_ephemeral"] = bool(message["flags"] & MessageFlag.EPHEMERAL)
        resource["message"] = message
    return Answer(200, {"interaction": of, "resource": resource})


def _wishes(body: CallbackBody) -> Sequence[AttachmentWish]:
    """The files that an answer names."""
    data = body.data or {}
    with _below_data():
        if body.type is CallbackType.CHANNEL_MESSAGE_WITH_SOURCE:
            return attachment_wishes(body_structure(CreateMessage)(data).attachments)
        if body.type is CallbackType.UPDATE_MESSAGE:
            return new_wishes(body_structure(EditMessage)(data))
    return ()


@contextmanager
def _below_data() -> Iterator[None]:
    """What is refused in the block stands below `data`."""
    try:
        yield
    except InvalidFormBody as error:
        raise InvalidFormBody([attrs.evolve(each, path=_below(each.path)) for each in error.errors]) from None


def _below(path: str) -> str:
    return "data" if path == "root" else f"data.{path}"


def _message(kind: CallbackType, data: Data, files: Files) -> Callback:
    return Callback(type=kind, draft=message_draft(body_structure(CreateMessage)(data), files))


def _deferred(kind: CallbackType, data: Data, files: Files) -> Callback:
    draft = message_draft(body_structure(CreateMessage)({"flags": data.get("flags", 0)}), ())
    return Callback(type=kind, draft=attrs.evolve(draft, is_deferred=True))


def _update(kind: CallbackType, data: Data, files: Files) -> Callback:
    return Callback(type=kind, edit=message_edit(body_structure(EditMessage)(data), files))


def _bare(kind: CallbackType, data: Data, files: Files) -> Callback:
    return Callback(type=kind)


def _choices(kind: CallbackType, data: Data, files: Files) -> Callback:
    body: ChoicesBody = body_structure(ChoicesBody)(data)
    choices = [{"name": choice.name, "value": choice.value} for choice in body.choices]
    texts = choices and isinstance(choices[0]["value"], str)
    wrong = list(wrong_choices(choices, OptionType.STRING if texts else OptionType.NUMBER, "choices"))
    if wrong:
        raise InvalidFormBody([FieldError(path, code) for path, code in wrong])
    return Callback(type=kind, choices=choices)


def _form(kind: CallbackType, data: Data, files: Files) -> Callback:
    body: FormDescription = body_structure(FormDescription)(data)
    components = placed_components(body.components, ComponentPlace.FORM)
    return Callback(type=kind, form=Form(body.custom_id, body.title, components))


def callback_of(content: bytes) -> Callback:
    """The first answer that an endpoint has given in the answer to a request; it brings no files.

    :raises InvalidFormBody: as for a body of the address of callbacks.
    """
    body: CallbackBody = body_structure(CallbackBody)(parse_json(content, empty_strings_are_null=False))
    with _below_data():
        return READERS[body.type](body.type, body.data or {}, ())


READERS: Final[Mapping[CallbackType, Callable[[CallbackType, Data, Files], Callback]]] = {
    CallbackType.CHANNEL_MESSAGE_WITH_SOURCE: _message,
    CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE: _deferred,
    CallbackType.DEFERRED_UPDATE_MESSAGE: _bare,
    CallbackType.UPDATE_MESSAGE: _update,
    CallbackType.APPLICATION_COMMAND_AUTOCOMPLETE_RESULT: _choices,
    CallbackType.MODAL: _form,
}
"""What the `data` of each kind of answer means."""
