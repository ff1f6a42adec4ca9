"""Puts the area together: messages, and what readers do with them."""

from __future__ import annotations

import attrs

from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.messages.crossposting import Crossposting
from chat.domain.messages.favorite_memes import FavoriteMemes
from chat.domain.messages.link_embeds import LinkEmbeds
from chat.domain.messages.mention_counting import MentionCounting
from chat.domain.messages.message_lists import MessageLists
from chat.domain.messages.message_search_index import MessageSearchIndex
from chat.domain.messages.message_search_scopes import MessageSearchScopes
from chat.domain.messages.message_searches import MessageSearches
from chat.domain.messages.messages import Messages
from chat.domain.messages.own_message_deletion import OwnMessageDeletion
from chat.domain.messages.pins import Pins
from chat.domain.messages.reactions import Reactions
from chat.domain.messages.read_states import ReadStates
from chat.domain.messages.recent_mentions import RecentMentions
from chat.domain.messages.saved_messages import SavedMessages
from chat.domain.messages.system_messages import SystemMessages
from chat.domain.messages.typing_indicators import TypingIndicators
from chat.domain.messages.unfurling import Unfurling
from chat.domain.messages.uploads import Uploads
from chat.domain.policy.assemble import PolicyArea
from chat.domain.presence.assemble import PresenceArea
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.standing.assemble import StandingArea


@attrs.frozen(kw_only=True)
class MessagesArea:
    """The services of messages."""

    messages: Messages
    message_lists: MessageLists
    message_searches: MessageSearches
    message_search_index: MessageSearchIndex
    system_messages: SystemMessages
    crossposting: Crossposting
    own_message_deletion: OwnMessageDeletion
    pins: Pins
    reactions: Reactions
    read_states: ReadStates
    recent_mentions: RecentMentions
    saved_messages: SavedMessages
    favorite_memes: FavoriteMemes
    uploads: Uploads
    unfurling: Unfurling
    link_embeds: LinkEmbeds
    typing: TypingIndicators

    @property
    def background(self) -> Background:
        """What runs as long as the server does."""
        return (
            self.message_search_index.run,
            self.link_embeds.run,
            self.crossposting.run,
            self.own_message_deletion.run,
        )


def assemble(
    core: Core, standing: StandingArea, policy: PolicyArea, presence: PresenceArea, signing_in: SigningInArea
) -> MessagesArea:
    """Build the area."""
    settings, sudo = core.settings, signing_in.sudo
    private_channels, witness, media = standing.private_channels, standing.witness, policy.media
    messages = Messages(
        core,
        private_channels=private_channels,
        mentions=MentionCounting(online_in=presence.presences.online_in),
        witness=witness,
    )
    system_messages = SystemMessages(core=core, private_channels=private_channels)
    index = MessageSearchIndex(core, enabled=settings.search == "on")
    scopes = MessageSearchScopes(core=core)
    unfurling = Unfurling(core, media=media)
    uploads = Uploads(core, media=media, messages=messages)
    return MessagesArea(
        messages=messages,
        message_lists=MessageLists(core=core),
        message_searches=MessageSearches(core, scopes=scopes, index=index),
        message_search_index=index,
        system_messages=system_messages,
        crossposting=Crossposting(core, witness=witness),
        own_message_deletion=OwnMessageDeletion(core, witness=witness, sudo=sudo),
        pins=Pins(core=core, private_channels=private_channels, system_messages=system_messages),
        reactions=Reactions(core=core),
        read_states=ReadStates(core=core),
        recent_mentions=RecentMentions(core=core),
        saved_messages=SavedMessages(core=core),
        favorite_memes=FavoriteMemes(core=core, media=media, uploads=uploads),
        uploads=uploads,
        unfurling=unfurling,
        link_embeds=LinkEmbeds(core, unfurling=unfurling, enabled=settings.media.link_embeds),
        typing=TypingIndicators(core=core),
    )
