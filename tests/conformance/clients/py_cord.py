"""py-cord, told where the server is: the library has no setting for it, so the module's name is set.

It has the same name as discord.py, so it lies in a folder of its own that comes first. Its `Client.close` closes the
HTTP session first, on which the gateway's socket depends, takes its own end for a lost connection, and raises.
"""

from __future__ import annotations

import contextlib

import discord
import discord.http
from discord_family import hold
from reports import MOUNT_URL

discord.http.Route.API_BASE_URL = MOUNT_URL
with contextlib.suppress(RuntimeError):
    hold(discord)
