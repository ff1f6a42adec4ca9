"""Every setting, with its default, unit and reason, and where its value came from."""

from chat.config.limits import Limits
from chat.config.loading import Loaded, load_settings
from chat.config.settings import GatewaySettings, IpBanSettings, MailSettings, Settings, SsoSettings

__all__ = [
    "GatewaySettings",
    "IpBanSettings",
    "Limits",
    "Loaded",
    "MailSettings",
    "Settings",
    "SsoSettings",
    "load_settings",
]
