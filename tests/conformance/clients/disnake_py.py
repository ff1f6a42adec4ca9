"""disnake, told where the server is: the library has no setting for it, so the module's name is set."""

from __future__ import annotations

import disnake
import disnake.http
from discord_family import hold
from reports import MOUNT_URL

disnake.http.Route.BASE = MOUNT_URL
hold(disnake)
