"""Puts the area together: messages, and what readers do with them."""

from __future__ import annotations

from chat.auth.outgoing_http import OutgoingHttp
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.messages.crossposting import Crossposting
from chat.domain.messages.drafts import Drafts
from chat.domain.messages.favorite_memes import FavoriteMemes
from chat.domain.messages.gifs import Gifs
from chat.domain.messages.kept_messages import RecentMentions, SavedMessages
from chat.domain.messages.links import LinkEmbeds, Unfurling
from chat.domain.messages.message_deletion import MessageDeletion
from chat.domain.messages.message_editing import MessageEditing
from chat.domain.messages.message_events import SystemMessages
from chat.domain.messages.message_reading import Messages
from chat.domain.messages.message_retention import MessageRetention
from chat.domain.messages.message_search import MessageSearches, MessageSearchIndex
from chat.domain.messages.message_sending import MessageSending
from chat.domain.messages.own_message_deletion import OwnMessageDeletion
from chat.domain.messages.pins import Pins
from chat.domain.messages.polls import Polls
from chat.domain.messages.reactions import Reactions
from chat.domain.messages.read_states import ReadStates
from chat.domain.messages.reminders import Reminders
from chat.domain.messages.scheduled_messages import ScheduledMessages
from chat.domain.messages.slowmode import Slowmode, SlowmodeStatus
from chat.domain.messages.typing_indicators import TypingIndicators
from chat.domain.messages.uploads import Uploads
from chat.domain.policy.assemble import PolicyArea
from chat.domain.presence.assemble import PresenceArea
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.standing.assemble import StandingArea


@frozen(kw_only=True)
class MessagesArea:
    messages: Messages
    sending: MessageSending
    editing: MessageEditing
    deletion: MessageDeletion
    own_message_deletion: OwnMessageDeletion
    retention: MessageRetention
    message_searches: MessageSearches
    message_search_index: MessageSearchIndex
    system_messages: SystemMessages
    crossposting: Crossposting
    pins: Pins
    polls: Polls
    reactions: Reactions
    read_states: ReadStates
    recent_mentions: RecentMentions
    saved_messages: SavedMessages
    favorite_memes: FavoriteMemes
    gifs: Gifs
    reminders: Reminders
    scheduled_messages: ScheduledMessages
    drafts: Drafts
    uploads: Uploads
    unfurling: Unfurling
    link_embeds: LinkEmbeds
    typing: TypingIndicators
    slowmode_status: SlowmodeStatus

    @property
    def background(self) -> Background:
        """The tasks that run as long as the server does."""
        return (
            self.message_search_index.run,
            self.link_embeds.run,
            self.crossposting.run,
            self.own_message_deletion.run,
            self.retention.run,
            self.reminders.run,
            self.scheduled_messages.run,
            self.polls.run,
        )


def assemble(
    core: Core, standing: StandingArea, policy: PolicyArea, presence: PresenceArea, signing_in: SigningInArea
) -> MessagesArea:
    """Build the area."""
    settings, sudo = core.settings, signing_in.sudo
    private_channels, witness, media = standing.private_channels, standing.witness, policy.media
    slowmode, online_in = Slowmode(), presence.presences.online_in
    system_messages = SystemMessages(core=core, private_channels=private_channels)
    polls = Polls(core, system_messages=system_messages, witness=witness)
    sending = MessageSending(
        core,
        private_channels=private_channels,
        slowmode=slowmode,
        online_in=online_in,
        poll_begun=polls.look_again,
    )
    deletion = MessageDeletion(core, witness=witness)
    index = MessageSearchIndex(core, enabled=settings.search == "on")
    unfurling = Unfurling(core, media=media)
    uploads = Uploads(core, media=media, sending=sending)
    return MessagesArea(
        messages=Messages(core=core),
        sending=sending,
        editing=MessageEditing(core=core, deletion=deletion),
        deletion=deletion,
        own_message_deletion=OwnMessageDeletion(core, witness=witness, sudo=sudo),
        retention=MessageRetention(core, witness=witness),
        message_searches=MessageSearches(core=core, index=index),
        message_search_index=index,
        system_messages=system_messages,
        crossposting=Crossposting(core, witness=witness),
        pins=Pins(core=core, private_channels=private_channels, system_messages=system_messages),
        polls=polls,
        reactions=Reactions(core=core),
        read_states=ReadStates(core=core),
        recent_mentions=RecentMentions(core=core),
        saved_messages=SavedMessages(core=core),
        favorite_memes=FavoriteMemes(core=core, media=media, uploads=uploads),
        gifs=Gifs(core, OutgoingHttp(in_threads=core.in_threads)),
        drafts=Drafts(core=core),
        reminders=Reminders(core),
        scheduled_messages=ScheduledMessages(core, sending=sending),
        uploads=uploads,
        unfurling=unfurling,
        link_embeds=LinkEmbeds(core, unfurling=unfurling, enabled=settings.media.link_embeds),
        typing=TypingIndicators(core=core),
        slowmode_status=SlowmodeStatus(core=core, slowmode=slowmode),
    )
