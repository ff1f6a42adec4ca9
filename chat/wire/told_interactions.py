"""Interactions as the application's bot hears of them (interactions.md, Interactions)."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from chat.registries.interactions import CommandType, ComponentType, InteractionContext, InteractionType, OptionType
from chat.wire.accounts import PartialUser
from chat.wire.channels import (
    CategoryChannel,
    DirectMessageChannel,
    ForumChannel,
    GroupChannel,
    LinkChannel,
    TextChannel,
    Thread,
    VoiceChannel,
)
from chat.wire.guilds import Member, Membership, Role
from chat.wire.messages import Attachment, Message
from chat.wire.values import GROUPED, Bits, Count, Nameless, Snowflake, one_of

OptionValue = str | int | float | bool
"""What a person has filled in; of accounts, channels and roles the id."""


class FilledOption(TypedDict):
    name: str
    """The option, as the command declares it."""
    type: Annotated[int, one_of(OptionType)]
    """What is filled in."""
    value: NotRequired[OptionValue]
    """What the person has filled in; absent of sub-commands and groups."""
    options: NotRequired[list[FilledOption]]
    """Of a sub-command its options, of a group the sub-command."""
    focused: NotRequired[bool]
    """True of the option that is being typed."""


class FilledPart(TypedDict):
    type: Annotated[int, one_of(ComponentType)]
    """What the part is."""
    id: int
    """Its number in the form."""
    custom_id: NotRequired[str]
    """Its name in the form; absent of parts that hold others."""
    value: NotRequired[str]
    """The text of a text input."""
    values: NotRequired[list[str]]
    """What was chosen in a menu."""
    components: NotRequired[list[FilledPart]]
    """The parts of a row."""
    component: NotRequired[FilledPart]
    """The part below a label."""


class Permissions(TypedDict):
    permissions: Bits
    """What the person, or the member, may do in the channel, as a decimal number of bits."""


class TextChannelWithPermissions(TextChannel, Permissions):
    pass


class VoiceChannelWithPermissions(VoiceChannel, Permissions):
    pass


class CategoryWithPermissions(CategoryChannel, Permissions):
    pass


class LinkWithPermissions(LinkChannel, Permissions):
    pass


class ForumWithPermissions(ForumChannel, Permissions):
    pass


class ThreadWithPermissions(Thread, Permissions):
    pass


class DirectMessageWithPermissions(DirectMessageChannel, Permissions):
    pass


class GroupWithPermissions(GroupChannel, Permissions):
    pass


class MemberWithPermissions(Member, Permissions):
    pass


class MembershipWithPermissions(Membership, Permissions):
    pass


NamedChannel = Annotated[
    TextChannelWithPermissions
    | VoiceChannelWithPermissions
    | CategoryWithPermissions
    | LinkWithPermissions
    | ForumWithPermissions,
    GROUPED,
]
"""A channel of the guild."""

WrittenChannel = Annotated[
    TextChannelWithPermissions
    | VoiceChannelWithPermissions
    | ThreadWithPermissions
    | DirectMessageWithPermissions
    | GroupWithPermissions,
    GROUPED,
]
"""A channel that people write in."""


class ResolvedObjects(Nameless):
    users: NotRequired[dict[str, PartialUser]]
    """Accounts that are named, by their ids."""
    members: NotRequired[dict[str, MembershipWithPermissions]]
    """Their memberships with `permissions`, by the same ids; of those that are members."""
    roles: NotRequired[dict[str, Role]]
    """Roles that are named, by their ids."""
    channels: NotRequired[dict[str, NamedChannel]]
    """Channels that are named with the person's `permissions` there, by their ids."""
    messages: NotRequired[dict[str, Message]]
    """The message that a command is about, by its id."""
    attachments: NotRequired[dict[str, Attachment]]
    """Files that the person sent, by their ids; each is there for an hour."""


class InteractionData(Nameless):
    id: NotRequired[Snowflake | int]
    """The command; of a component its number in the message."""
    name: NotRequired[str]
    """The name of the command."""
    type: NotRequired[Annotated[int, one_of(CommandType)]]
    """Where people find the command."""
    guild_id: NotRequired[Snowflake]
    """The guild that alone has the command."""
    options: NotRequired[list[FilledOption]]
    """What was filled into a command of type 1."""
    target_id: NotRequired[Snowflake]
    """The account or the message that a command of type 2 or 3 is about."""
    custom_id: NotRequired[str]
    """The component that was used, or the form that was submitted."""
    component_type: NotRequired[Annotated[int, one_of(ComponentType)]]
    """What the component is."""
    values: NotRequired[list[str]]
    """What was chosen in a menu."""
    components: NotRequired[list[FilledPart]]
    """The form as it was filled in."""
    resolved: NotRequired[ResolvedObjects]
    """The objects of the ids that are named; absent where none is."""


class InteractionGuild(Nameless):
    id: Snowflake
    """The guild in which it happened."""
    locale: str
    """The language of the guild."""
    features: list[str]
    """What the guild has switched on."""


class ToldInteraction(TypedDict):
    """What the application's bot hears as INTERACTION_CREATE."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    application_id: Snowflake
    """The application that is asked."""
    type: Annotated[int, one_of(InteractionType)]
    """What the person did."""
    token: str
    """The secret with which the application answers, for 15 minutes."""
    version: int
    """Always 1."""
    data: InteractionData
    """What was invoked, used, typed or submitted."""
    channel_id: Snowflake
    """The channel in which it happened."""
    channel: WrittenChannel
    """The same channel with the person's `permissions` there."""
    locale: str
    """The language that the person has chosen."""
    entitlements: list[str]
    """Always empty: nothing is sold."""
    authorizing_integration_owners: dict[str, Snowflake]
    """To what the application is installed: by `0` the guild, or 0 for a conversation with its bot."""
    context: Annotated[int, one_of(InteractionContext)]
    """Where it happened: 0 a guild, 1 a conversation with the bot, 2 another one."""
    attachment_size_limit: Count
    """Bytes that a file of an answer may have."""
    app_permissions: Bits
    """What the application's bot may do in the channel."""
    guild_id: NotRequired[Snowflake]
    """The guild in which it happened; absent in a conversation."""
    guild: NotRequired[InteractionGuild]
    """The same guild in brief."""
    guild_locale: NotRequired[str]
    """The language of the guild."""
    member: NotRequired[MemberWithPermissions]
    """The person as a member with `permissions`; absent in a conversation."""
    user: NotRequired[PartialUser]
    """The person; absent in a guild."""
    message: NotRequired[Message]
    """The message whose component was used."""
