"""Hypothesis strategies for what travels over the wire, valid and invalid.

values              snowflakes, time stamps, texts, permission sets, arbitrary JSON
gateway             what a client sends: `d` of each opcode, whole payloads with their verdicts, malformed messages with
                    the close they bring about; what the server sends
objects             users, guilds, roles, channels, members, messages, invites as the wire has them
account_requests    bodies about signing in, accounts, settings and people
guild_requests      bodies of guilds with their creation templates, invites, threads and forums
message_requests    bodies of messages and of those who read them
poll_requests       polls, and votes in them
interaction_requests  commands of applications, what is filled into them, rows of components
surface_requests    bodies of webhooks, uploads and links
declared            every wire object and every JSON body, as the OpenAPI document declares them
"""

from chat.testing.strategies.account_requests import custom_statuses as custom_statuses
from chat.testing.strategies.account_requests import friendship_changes as friendship_changes
from chat.testing.strategies.account_requests import guild_folders as guild_folders
from chat.testing.strategies.account_requests import guild_settings_bodies as guild_settings_bodies
from chat.testing.strategies.account_requests import invalid_guild_settings_bodies as invalid_guild_settings_bodies
from chat.testing.strategies.account_requests import invalid_login_bodies as invalid_login_bodies
from chat.testing.strategies.account_requests import invalid_profile_bodies as invalid_profile_bodies
from chat.testing.strategies.account_requests import invalid_registrations as invalid_registrations
from chat.testing.strategies.account_requests import invalid_settings_bodies as invalid_settings_bodies
from chat.testing.strategies.account_requests import login_bodies as login_bodies
from chat.testing.strategies.account_requests import note_bodies as note_bodies
from chat.testing.strategies.account_requests import profile_bodies as profile_bodies
from chat.testing.strategies.account_requests import registrations as registrations
from chat.testing.strategies.account_requests import settings_bodies as settings_bodies
from chat.testing.strategies.declared import object_names as object_names
from chat.testing.strategies.declared import operations_with_bodies as operations_with_bodies
from chat.testing.strategies.declared import request_bodies as request_bodies
from chat.testing.strategies.declared import wire_objects as wire_objects
from chat.testing.strategies.gateway import client_payloads as client_payloads
from chat.testing.strategies.gateway import dispatches as dispatches
from chat.testing.strategies.gateway import heartbeats as heartbeats
from chat.testing.strategies.gateway import identifies as identifies
from chat.testing.strategies.gateway import invalid_heartbeats as invalid_heartbeats
from chat.testing.strategies.gateway import invalid_identifies as invalid_identifies
from chat.testing.strategies.gateway import invalid_presence_updates as invalid_presence_updates
from chat.testing.strategies.gateway import invalid_resumes as invalid_resumes
from chat.testing.strategies.gateway import lazy_requests as lazy_requests
from chat.testing.strategies.gateway import malformed_messages as malformed_messages
from chat.testing.strategies.gateway import member_requests as member_requests
from chat.testing.strategies.gateway import presence_updates as presence_updates
from chat.testing.strategies.gateway import resumes as resumes
from chat.testing.strategies.gateway import server_payloads as server_payloads
from chat.testing.strategies.gateway import session_commands as session_commands
from chat.testing.strategies.gateway import unknown_opcodes as unknown_opcodes
from chat.testing.strategies.gateway import voice_states as voice_states
from chat.testing.strategies.guild_requests import accept_invite_paths as accept_invite_paths
from chat.testing.strategies.guild_requests import forum_fields as forum_fields
from chat.testing.strategies.guild_requests import guild_bodies as guild_bodies
from chat.testing.strategies.guild_requests import guild_templates as guild_templates
from chat.testing.strategies.guild_requests import invalid_forum_fields as invalid_forum_fields
from chat.testing.strategies.guild_requests import invalid_guild_bodies as invalid_guild_bodies
from chat.testing.strategies.guild_requests import invalid_guild_templates as invalid_guild_templates
from chat.testing.strategies.guild_requests import invalid_invite_bodies as invalid_invite_bodies
from chat.testing.strategies.guild_requests import invalid_posts as invalid_posts
from chat.testing.strategies.guild_requests import invalid_thread_changes as invalid_thread_changes
from chat.testing.strategies.guild_requests import invalid_thread_starts as invalid_thread_starts
from chat.testing.strategies.guild_requests import invite_bodies as invite_bodies
from chat.testing.strategies.guild_requests import malformed_guild_templates as malformed_guild_templates
from chat.testing.strategies.guild_requests import posts as posts
from chat.testing.strategies.guild_requests import template_channels as template_channels
from chat.testing.strategies.guild_requests import template_masks as template_masks
from chat.testing.strategies.guild_requests import template_overwrites as template_overwrites
from chat.testing.strategies.guild_requests import template_roles as template_roles
from chat.testing.strategies.guild_requests import thread_changes as thread_changes
from chat.testing.strategies.guild_requests import thread_starts as thread_starts
from chat.testing.strategies.interaction_requests import commands as commands
from chat.testing.strategies.interaction_requests import component_rows as component_rows
from chat.testing.strategies.interaction_requests import filled as filled
from chat.testing.strategies.interaction_requests import invalid_commands as invalid_commands
from chat.testing.strategies.interaction_requests import invalid_component_rows as invalid_component_rows
from chat.testing.strategies.message_requests import acknowledgements as acknowledgements
from chat.testing.strategies.message_requests import bulk_deletions as bulk_deletions
from chat.testing.strategies.message_requests import channel_acknowledgements as channel_acknowledgements
from chat.testing.strategies.message_requests import embeds as embeds
from chat.testing.strategies.message_requests import invalid_acknowledgements as invalid_acknowledgements
from chat.testing.strategies.message_requests import invalid_bulk_deletions as invalid_bulk_deletions
from chat.testing.strategies.message_requests import (
    invalid_channel_acknowledgements as invalid_channel_acknowledgements,
)
from chat.testing.strategies.message_requests import invalid_embeds as invalid_embeds
from chat.testing.strategies.message_requests import invalid_meme_words as invalid_meme_words
from chat.testing.strategies.message_requests import invalid_message_bodies as invalid_message_bodies
from chat.testing.strategies.message_requests import invalid_message_edits as invalid_message_edits
from chat.testing.strategies.message_requests import invalid_purges as invalid_purges
from chat.testing.strategies.message_requests import invalid_reaction_emojis as invalid_reaction_emojis
from chat.testing.strategies.message_requests import invalid_rich_message_bodies as invalid_rich_message_bodies
from chat.testing.strategies.message_requests import invalid_saved_messages as invalid_saved_messages
from chat.testing.strategies.message_requests import meme_words as meme_words
from chat.testing.strategies.message_requests import mention_queries as mention_queries
from chat.testing.strategies.message_requests import message_bodies as message_bodies
from chat.testing.strategies.message_requests import message_edits as message_edits
from chat.testing.strategies.message_requests import message_windows as message_windows
from chat.testing.strategies.message_requests import purges as purges
from chat.testing.strategies.message_requests import reaction_emojis as reaction_emojis
from chat.testing.strategies.message_requests import rich_message_bodies as rich_message_bodies
from chat.testing.strategies.objects import channels as channels
from chat.testing.strategies.objects import guilds as guilds
from chat.testing.strategies.objects import invites as invites
from chat.testing.strategies.objects import members as members
from chat.testing.strategies.objects import messages as messages
from chat.testing.strategies.objects import partial_users as partial_users
from chat.testing.strategies.objects import permission_overwrites as permission_overwrites
from chat.testing.strategies.objects import readies as readies
from chat.testing.strategies.objects import ready_guilds as ready_guilds
from chat.testing.strategies.objects import roles as roles
from chat.testing.strategies.poll_requests import invalid_polls as invalid_polls
from chat.testing.strategies.poll_requests import polls as polls
from chat.testing.strategies.poll_requests import votes as votes
from chat.testing.strategies.surface_requests import GITHUB_EVENTS as GITHUB_EVENTS
from chat.testing.strategies.surface_requests import github_deliveries as github_deliveries
from chat.testing.strategies.surface_requests import instatus_notices as instatus_notices
from chat.testing.strategies.surface_requests import invalid_links as invalid_links
from chat.testing.strategies.surface_requests import invalid_upload_promises as invalid_upload_promises
from chat.testing.strategies.surface_requests import invalid_webhook_executions as invalid_webhook_executions
from chat.testing.strategies.surface_requests import slack_messages as slack_messages
from chat.testing.strategies.surface_requests import upload_promises as upload_promises
from chat.testing.strategies.surface_requests import webhook_bodies as webhook_bodies
from chat.testing.strategies.surface_requests import webhook_executions as webhook_executions
from chat.testing.strategies.values import invalid_snowflakes as invalid_snowflakes
from chat.testing.strategies.values import json_values as json_values
from chat.testing.strategies.values import permission_sets as permission_sets
from chat.testing.strategies.values import shard_pairs as shard_pairs
from chat.testing.strategies.values import snowflakes as snowflakes
from chat.testing.strategies.values import texts as texts
from chat.testing.strategies.values import timestamps as timestamps
