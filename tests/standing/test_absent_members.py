"""A value that is not stored is null or absent on the wire, as clients know it; never an empty text or list."""

from __future__ import annotations

import attrs

from chat.domain.standing.channel_objects import channel_object
from chat.domain.standing.private_channels import private_channel_object
from chat.domain.standing.thread_objects import thread_object
from chat.domain.webhooks.webhooks import webhook_object
from chat.registries.channel_types import ChannelType
from chat.store.guilds.channels import Channel
from chat.store.standing.private_channels import PrivateChannel
from chat.store.threads import Thread
from chat.store.webhooks.crossposts import FollowedSource
from chat.store.webhooks.webhooks import Webhook

NAMELESS = Channel(3, 1, ChannelType.GUILD_TEXT.value, None)


def test_a_channel_without_a_name_has_null_there() -> None:
    thread = Thread(
        attrs.evolve(NAMELESS, type=ChannelType.PUBLIC_THREAD.value, parent_id=2, owner_id=4),
        archived=False,
        auto_archive_duration=60,
        archive_timestamp=1,
        locked=False,
        invitable=None,
        message_count=0,
        total_message_sent=0,
        member_count=1,
        created_at=1,
        archive_at=None,
    )
    assert channel_object(NAMELESS, last_message_id=None)["name"] is None
    assert thread_object(thread)["name"] is None
    follower = Webhook(id=5, guild_id=1, channel_id=2, user_id=4, name="news", sealed_token=b"", type=2)
    source = FollowedSource(guild_id=6, guild_name="far", guild_icon=None, channel_id=7, channel_name=None)
    assert webhook_object(follower, "", None, source)["source_channel"] == {"id": "7", "name": None}


def test_a_conversation_whose_other_account_is_gone_has_no_recipients() -> None:
    talk = Channel(3, None, ChannelType.DM.value, None)
    shown = private_channel_object(PrivateChannel(talk, (4,)), 4, {})
    assert shown == {"id": "3", "type": 1, "last_message_id": None, "last_pin_timestamp": None}
