"""Message objects as the wire has them (messages.md, Message object).

`stored_message_object` shows a whole message. What few messages have comes out of `Message.extra` (`_add_extra`); what
other tables hold (reactions, threads) comes as `parts` (`chat.domain.messages.message_reading`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from chat import wire
from chat.clock import iso_timestamp
from chat.domain.policy.component_trees import component_objects
from chat.domain.policy.embeds import Addresses, embed_objects
from chat.domain.standing.user_objects import partial_user
from chat.registries.message_types import POINTING_MESSAGE_TYPES, MessageFlag
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_time_ms
from chat.store.accounts.accounts import Account, ShownAccount
from chat.store.messages.attachments import Attachment
from chat.store.messages.messages import Message, MessageExtra, MessageReference, PageRow
from chat.store.messages.polls import PollState
from chat.store.messages.reactions import Emoji, ReactionView

Parts = Mapping[int, "wire.MessageParts"]
"""Further members of message objects, by the message's id."""

NO_PARTS: Final[Parts] = {}

Accounts = Mapping[int, Account | ShownAccount]
"""The accounts that messages name, by id."""


def message_object(message: Message, *, author: wire.PartialUser, mentions: list[wire.PartialUser]) -> wire.Message:
    """A message that has neither files nor anything else but text; `author` and `mentions` are partial users."""
    data: wire.Message = {
        "id": str(message.id),
        "channel_id": str(message.channel_id),
        "author": author,
        "type": message.type,
        "flags": message.flags,
        "content": message.content,
        "timestamp": iso_timestamp(snowflake_time_ms(message.id)),
        "edited_timestamp": None if message.edited_at is None else iso_timestamp(message.edited_at),
        "pinned": message.pinned_at is not None,
        "mention_everyone": message.mention_everyone,
        "tts": message.tts,
        "mentions": mentions,
        "mention_roles": list(map(str, message.mentioned_role_ids)),
        "embeds": [],
        "attachments": [],
        "stickers": [],
        "components": [],
    }
    if message.webhook_id is not None:
        data["webhook_id"] = str(message.webhook_id)
    if message.nonce is not None:
        data["nonce"] = message.nonce
    if message.reference is not None:
        data["message_reference"] = reference_object(message.reference)
    return data


def plain_message_objects(
    rows: Iterable[PageRow], channel_id: str, authors: Mapping[int, wire.PartialUser]
) -> list[wire.Message]:
    """Messages that are plain, out of their columns; the same as `message_object`."""
    objects: list[wire.Message] = []
    for message_id, author_id, content, flags, edited_at, pinned_at, tts, nonce, _ in rows:
        data: wire.Message = {
            "id": str(message_id),
            "channel_id": channel_id,
            "author": authors[author_id],
            "type": 0,
            "flags": flags,
            "content": content,
            "timestamp": iso_timestamp(snowflake_time_ms(message_id)),
            "edited_timestamp": None if edited_at is None else iso_timestamp(edited_at),
            "pinned": pinned_at is not None,
            "mention_everyone": False,
            "tts": tts == 1,
            "mentions": [],
            "mention_roles": [],
            "embeds": [],
            "attachments": [],
            "stickers": [],
            "components": [],
        }
        if nonce is not None:
            data["nonce"] = nonce
        objects.append(data)
    return objects


def whole_message_object(
    message: Message,
    *,
    author: wire.PartialUser,
    mentions: list[wire.PartialUser],
    accounts: Accounts,
    addresses: Addresses,
) -> wire.Message:
    """The message with its files and its `extra`, without the one it answers."""
    data = message_object(message, author=author, mentions=mentions)
    if message.extra is not None:
        _add_extra(data, message, message.extra, accounts, addresses)
    return data


def stored_message_object(
    message: Message,
    referenced: Message | None,
    accounts: Accounts,
    addresses: Addresses,
    parts: Parts = NO_PARTS,
) -> wire.Message:
    """The message with, where it refers to one that it does not carry, `referenced_message`: that message, or null when
    it is gone.

    `accounts` holds the authors and the mentioned of both; an account that is missing there is shown as a deleted one.
    """
    data = referenced_message_object(message, accounts, addresses, parts)
    if message.reference is not None and not _only_points(message):
        data["referenced_message"] = (
            None if referenced is None else referenced_message_object(referenced, accounts, addresses, parts)
        )
    return data


def _attachment_object(attachment: Attachment, addresses: Addresses) -> wire.Attachment:
    address = addresses.attachment(attachment)
    data: wire.Attachment = {
        "id": str(attachment.id),
        "filename": attachment.filename,
        "title": attachment.title,
        "description": attachment.description,
        "content_type": attachment.content_type,
        "content_hash": attachment.content_hash,
        "size": attachment.size,
        "url": address,
        "proxy_url": address,
        "flags": attachment.flags,
        "expires_at": iso_timestamp(addresses.attachments_until()),
    }
    if attachment.width is not None and attachment.height is not None:
        data["width"], data["height"] = attachment.width, attachment.height
    if attachment.duration is not None:
        data["duration"] = attachment.duration
    if attachment.waveform is not None:
        data["waveform"] = attachment.waveform
    if attachment.placeholder is not None:
        data["placeholder"] = attachment.placeholder
    return data


def attachment_objects(files: Iterable[Attachment], addresses: Addresses) -> list[wire.Attachment]:
    """Attachments of a message, in order."""
    return [_attachment_object(attachment, addresses) for attachment in files]


def webhook_author(webhook_id: int, name: str, avatar: str | None) -> wire.PartialUser:
    """The author of a webhook's message (messages.md, Message object)."""
    return {
        "id": str(webhook_id),
        "username": name,
        "discriminator": "0000",
        "global_name": None,
        "avatar": avatar,
        "avatar_color": None,
        "flags": 0,
        "bot": True,
    }


def author_object(user_id: int, account: Account | ShownAccount | None) -> wire.PartialUser:
    """The partial user; without an account, the placeholder of a deleted one."""
    if account is None:
        account = ShownAccount(user_id, flags=UserFlag.DELETED)
    return partial_user(account)


def account_ids(messages: Sequence[Message]) -> set[int]:
    """The ids of the accounts that wrote these messages or are named in them."""
    ids = {message.author_id for message in messages if message.webhook_id is None}
    for message in messages:
        ids.update(message.mentioned_user_ids)
        if message.extra is not None:
            ids.update(_named_in(message.extra))
    return ids


def _only_points(message: Message) -> bool:
    """Whether the message is shown without the one it refers to: it carries that already, or tells where something
    is."""
    if message.type in POINTING_MESSAGE_TYPES or message.flags & MessageFlag.IS_CROSSPOST.value:
        return True
    return message.extra is not None and bool(message.extra.snapshots)


def reference_object(reference: MessageReference) -> wire.MessageReference:
    """The `message_reference` of a message."""
    data: wire.MessageReference = {"channel_id": str(reference.channel_id), "type": reference.type}
    if reference.message_id:  # what tells of a thread or of a followed channel refers to no message in it
        data["message_id"] = str(reference.message_id)
    if reference.guild_id is not None:
        data["guild_id"] = str(reference.guild_id)
    return data


def referenced_message_object(
    message: Message, accounts: Accounts, addresses: Addresses, parts: Parts = NO_PARTS
) -> wire.Message:
    """A message as it is shown in another one that refers to it: without the one that it refers to itself."""
    mentions = [author_object(user_id, accounts.get(user_id)) for user_id in message.mentioned_user_ids]
    data = whole_message_object(
        message, author=_author(message, accounts), mentions=mentions, accounts=accounts, addresses=addresses
    )
    if parts and message.id in parts:
        _add_parts(data, parts[message.id])
    return data


def _add_parts(data: wire.Message, parts: wire.MessageParts) -> None:
    if "flags" in parts:
        data["flags"] = parts["flags"]
    if "reactions" in parts:
        data["reactions"] = parts["reactions"]
    if "poll_results" in parts and "poll" in data:
        data["poll"] = poll_object(data["poll"], parts["poll_results"])
    if "thread" in parts:
        data["thread"] = parts["thread"]


def _author(message: Message, accounts: Accounts) -> wire.PartialUser:
    if message.webhook_id is None:
        return author_object(message.author_id, accounts.get(message.author_id))
    spoken = message.extra
    name = "" if spoken is None or spoken.webhook_name is None else spoken.webhook_name
    return webhook_author(message.webhook_id, name, None if spoken is None else spoken.webhook_avatar)


def _add_extra(
    data: wire.Message, message: Message, extra: MessageExtra, accounts: Accounts, addresses: Addresses
) -> None:
    files = message.attachments
    if not message.flags & MessageFlag.SUPPRESS_EMBEDS.value and (extra.embeds or extra.link_embeds):
        data["embeds"] = embed_objects((*extra.embeds, *extra.link_embeds), files, addresses)
    if extra.stickers:
        data["stickers"] = list(extra.stickers)
    if extra.components:
        data["components"] = component_objects(extra.components, files, addresses)
    if extra.poll is not None:
        data["poll"] = poll_object(extra.poll)
    if extra.mention_channels:
        data["mention_channels"] = list(extra.mention_channels)
    if extra.nsfw_emojis:
        data["nsfw_emojis"] = list(extra.nsfw_emojis)
    if extra.interaction is not None:
        data["interaction_metadata"] = _interaction(extra.interaction, accounts)
    if extra.call is not None:
        data["call"] = extra.call
    if extra.snapshots:
        others = [cast("wire.MessageSnapshot", snapshot) for snapshot in extra.snapshots[1:]]
        data["message_snapshots"] = [_snapshot_object(extra.snapshots[0], message, addresses), *others]
    elif files:
        data["attachments"] = attachment_objects(message.attachments, addresses)
    if extra.snapshots or extra.call is not None:
        named = sorted(set(_named_in(extra)))
        if named:
            data["users"] = [author_object(user_id, accounts.get(user_id)) for user_id in named]


def _interaction(kept: Mapping[str, Any], accounts: Accounts) -> wire.InteractionMetadata:
    """What a message tells of the interaction that it answers, with the person's user object."""
    user_id = kept["user_id"]
    shown = {name: value for name, value in kept.items() if name != "user_id"}
    shown["user"] = author_object(user_id, accounts.get(user_id))
    trigger = kept.get("triggering_interaction_metadata")
    if trigger is not None:
        shown["triggering_interaction_metadata"] = _interaction(trigger, accounts)
    return cast("wire.InteractionMetadata", shown)


def _snapshot_object(snapshot: Mapping[str, Any], message: Message, addresses: Addresses) -> wire.MessageSnapshot:
    """The snapshot that a forward carries, with the forward's files."""
    shown = cast("wire.MessageSnapshot", dict(snapshot))
    if "embeds" in snapshot:
        shown["embeds"] = embed_objects(snapshot["embeds"], message.attachments, addresses)
    if "components" in snapshot:
        shown["components"] = component_objects(snapshot["components"], message.attachments, addresses)
    if message.attachments:
        shown["attachments"] = attachment_objects(message.attachments, addresses)
    return shown


def _named_in(extra: MessageExtra) -> Iterator[int]:
    """Accounts of which the message object gives the ids alone."""
    for snapshot in extra.snapshots:
        yield from (int(user_id) for user_id in snapshot.get("mentions", ()))
    if extra.interaction is not None:
        yield extra.interaction["user_id"]
    if extra.call is not None:
        yield from (int(user_id) for user_id in extra.call.get("participants", ()))


def poll_object(asked: Mapping[str, Any], results: wire.PollResults | None = None) -> wire.Poll:
    """A poll as it was asked, with its results; without any, before the first vote."""
    if results is None:
        counts: list[wire.PollAnswerCount] = [
            {"id": answer["answer_id"], "count": 0, "me_voted": False} for answer in asked["answers"]
        ]
        results = {"is_finalized": False, "answer_counts": counts}
    return cast("wire.Poll", {**asked, "results": results})


def poll_results(state: PollState) -> wire.PollResults:
    """The votes of a poll, as their viewer sees them."""
    counts: list[wire.PollAnswerCount] = [
        {"id": answer.answer_id, "count": answer.votes, "me_voted": answer.me} for answer in state.answers
    ]
    return {"is_finalized": state.ended_at is not None, "answer_counts": counts}


def emoji_object(emoji: Emoji, *, whole: bool = True) -> wire.ReactionEmoji:
    """The emoji of a reaction; a Unicode one has no id. `whole` adds whether one of a guild moves."""
    data: wire.ReactionEmoji = {"name": emoji.name}
    if emoji.id is not None:
        data["id"] = str(emoji.id)
        if whole:
            data["animated"] = emoji.animated
    return data


def reaction_objects(reactions: Iterable[ReactionView]) -> list[wire.Reaction]:
    """The `reactions` of a message object; `me` tells whether the reader is among those who reacted."""
    return [
        {"emoji": emoji_object(reaction.emoji), "count": reaction.user_count, "me": reaction.me}
        for reaction in reactions
    ]
