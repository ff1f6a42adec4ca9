"""nextcord, told where the server is: the base of its routes, version 1.

At fault: the library has no public setting for either, so its module-level names are set; it asks for the gateway's
address at GET /gateway, which this family does not have, instead of GET /gateway/bot; and what `discord_family` tells.
"""

from __future__ import annotations

import nextcord
import nextcord.http
import nextcord.utils
from discord_family import hold
from reports import BASE_URL

nextcord.http._API_VERSION = 1
nextcord.http.Route.BASE = BASE_URL


async def gateway_address(self: nextcord.http.HTTPClient, **options: object) -> str:
    return (await self.get_bot_gateway(**options))[1]


nextcord.http.HTTPClient.get_gateway = gateway_address
hold(nextcord, "from_json")
