"""How a core and its nodes write down what they tell each other.

A message is a kind, a small JSON object and byte strings that are not looked into: events that are encoded already,
lists of slots, commands as the client sent them. Members that a version does not know are left out, and new ones have a
default, so that nodes and core may be one version apart (manual, Beyond one process).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

import attrs
import cattrs
import orjson

from chat.bus.audience import Mentions
from chat.gateway.fanout import Delivery
from chat.nodes.messages import KINDS, Deliver, NodeMessage
from chat.protocol.frames import OutgoingEvent

_HEAD: Final = struct.Struct("!BIB")
_LENGTH: Final = struct.Struct("!I")
_converter: Final = cattrs.Converter(detailed_validation=False, forbid_extra_keys=False)


class Malformed(ValueError):
    """These bytes are no message of this protocol."""


def encode(message: NodeMessage) -> bytes:
    """A message as bytes."""
    if isinstance(message, Deliver):
        return encode_delivery(message) + message.slots
    values = _converter.unstructure(message)
    blobs = [values.pop(name) for name in message.blobs]
    return _joined(message.kind, orjson.dumps(values), [each for several in blobs for each in several])


def encode_delivery(delivery: Deliver | Delivery) -> bytes:
    """The beginning of a Deliver, up to its slots, which come last: it has the same bytes for every node."""
    event, thread_event, mentions = delivery.event, delivery.thread_event, delivery.mentions
    values: dict[str, object] = {"n": event.name}
    if not event.retained:
        values["v"] = True
    if mentions is not None:
        values["m"] = [mentions.everyone, mentions.here, sorted(mentions.user_ids), sorted(mentions.role_ids)]
    if delivery.ignoring_session is not None:
        values["i"] = delivery.ignoring_session
    data = [event.data] if thread_event is None else [event.data, thread_event.data]
    return _joined(Deliver.kind, orjson.dumps(values), data)


def _joined(kind: int, header: bytes, blobs: Sequence[bytes]) -> bytes:
    parts = [_HEAD.pack(kind, len(header), len(blobs)), header]
    for blob in blobs:
        parts += (_LENGTH.pack(len(blob)), blob)
    return b"".join(parts)


def decode(data: bytes) -> NodeMessage | None:
    """The message in these bytes; None if this version does not know its kind. Raises Malformed."""
    try:
        kind, length, count = _HEAD.unpack_from(data)
        at = _HEAD.size + length
        values = orjson.loads(data[_HEAD.size : at])
        blobs = []
        for _ in range(count):
            (size,) = _LENGTH.unpack_from(data, at)
            at += _LENGTH.size
            blobs.append(data[at : at + size])
            at += size
        if kind == Deliver.kind:
            return _delivery(values, blobs, data[at:])
        kind_of = KINDS.get(kind)
        if kind_of is None:
            return None
        for name in kind_of.blobs:
            values[name] = ()
        message = _converter.structure(values, kind_of)
        return attrs.evolve(message, **{kind_of.blobs[0]: tuple(blobs)}) if kind_of.blobs else message  # type: ignore[misc]
    except (struct.error, ValueError, KeyError, TypeError, cattrs.BaseValidationError) as error:
        raise Malformed("a message that cannot be read") from error


# `dict[str, Any]`: JSON of the core, taken apart here.
def _delivery(values: dict[str, Any], blobs: Sequence[bytes], slots: bytes) -> Deliver:
    retained = "v" not in values
    mentions = values.get("m")
    if mentions is not None:
        everyone, here, user_ids, role_ids = mentions
        mentions = Mentions(everyone=everyone, here=here, user_ids=frozenset(user_ids), role_ids=frozenset(role_ids))
    thread_event = OutgoingEvent(values["n"], blobs[1], retained=retained) if len(blobs) > 1 else None
    event = OutgoingEvent(values["n"], blobs[0], retained=retained)
    return Deliver(event, slots, mentions, thread_event, values.get("i"))
