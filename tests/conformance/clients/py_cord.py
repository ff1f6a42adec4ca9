"""py-cord, told where the server is: the base of its routes, version 1.

It has the same name as discord.py, so it lies in a folder of its own that comes first.

At fault: the library has no public setting for either, so its module-level names are set; it asks for the gateway's
address at GET /gateway, which this family does not have, instead of GET /gateway/bot; it insists on `colors` of roles,
which this family does not send; and what `discord_family` tells. It is told not to ask for the sounds of its own
platform (`cache_default_sounds`). `Client.close` closes the HTTP session first, on which the gateway's socket depends,
and takes its own end for a lost connection; so the socket is closed first.
"""

from __future__ import annotations

from typing import Any

import discord
import discord.http
import discord.utils
from discord_family import hold, objects_in
from reports import BASE_URL

discord.http.API_VERSION = 1
discord.http.Route.API_BASE_URL = BASE_URL


async def gateway_address(self: discord.http.HTTPClient, **options: object) -> str:
    return (await self.get_bot_gateway(**options))[1]


async def close(self: discord.Client) -> None:
    if not self.is_closed():
        self._closed = True
        await self.ws.close(code=1000)
        await self.http.close()


discord.http.HTTPClient.get_gateway = gateway_address
discord.Client.close = close


def add_colors(payload: Any) -> None:
    for each in objects_in(payload):
        if "hoist" in each and "color" in each:
            each["colors"] = {"primary_color": each["color"], "secondary_color": None, "tertiary_color": None}


hold(discord, add=add_colors, cache_default_sounds=False)
