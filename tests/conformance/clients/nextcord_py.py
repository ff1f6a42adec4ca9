"""nextcord, told where the server is: the library has no setting for it, so the module's name is set."""

from __future__ import annotations

import nextcord
import nextcord.http
from discord_family import hold
from reports import MOUNT_URL

nextcord.http.Route.BASE = MOUNT_URL
hold(nextcord)
