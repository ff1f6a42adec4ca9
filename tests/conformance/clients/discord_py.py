"""discord.py, told where the server is: the library has no setting for it, so the module's names are set."""

from __future__ import annotations

import discord
import discord.gateway
import discord.http
import yarl
from discord_family import hold
from reports import GATEWAY_URL, MOUNT_URL

discord.http.Route.BASE = MOUNT_URL
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(GATEWAY_URL)
hold(discord)
