"""discord.py, told where the server is: the base of its routes, the gateway's address, version 1 of both.

At fault: the library has no public setting for any of the three, so its module-level names are set; and what
`discord_family` tells.
"""

from __future__ import annotations

import discord
import discord.gateway
import discord.http
import discord.utils
import yarl
from discord_family import hold
from reports import BASE_URL, GATEWAY_URL

discord.http.INTERNAL_API_VERSION = 1
discord.http.Route.BASE = BASE_URL
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(GATEWAY_URL)
hold(discord)
