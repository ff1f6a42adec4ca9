"""The public test kit: a whole server inside a test, its world, honest clients that can misbehave, strategies.

Loads by itself as a pytest plugin where `chat` is installed (`chat.testing.plugin`); needs the packages of the extra
`chat[testing]`. Everything here is imported on first use, because the plugin must cost other test suites nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from chat.testing import strategies as strategies
    from chat.testing.authenticator import Lie as Lie
    from chat.testing.authenticator import NotAllowed as NotAllowed
    from chat.testing.authenticator import SoftwareAuthenticator as SoftwareAuthenticator
    from chat.testing.bot_machine import BotMachine as BotMachine
    from chat.testing.dev_server import DevServer as DevServer
    from chat.testing.fresh_world import in_world as in_world
    from chat.testing.gateway_client import GatewayClient as GatewayClient
    from chat.testing.gateway_machine import GatewayMachine as GatewayMachine
    from chat.testing.http_client import Response as Response
    from chat.testing.network import MemoryNetwork as MemoryNetwork
    from chat.testing.rest_client import RestClient as RestClient
    from chat.testing.server import ChatServer as ChatServer
    from chat.testing.server import open_chat_server as open_chat_server
    from chat.testing.world import World as World

__all__ = [
    "BotMachine",
    "ChatServer",
    "DevServer",
    "GatewayClient",
    "GatewayMachine",
    "Lie",
    "MemoryNetwork",
    "NotAllowed",
    "Response",
    "RestClient",
    "SoftwareAuthenticator",
    "World",
    "in_world",
    "open_chat_server",
    "strategies",
]

_HOMES: Final = {
    "BotMachine": "bot_machine",
    "ChatServer": "server",
    "DevServer": "dev_server",
    "GatewayClient": "gateway_client",
    "GatewayMachine": "gateway_machine",
    "Lie": "authenticator",
    "MemoryNetwork": "network",
    "NotAllowed": "authenticator",
    "Response": "http_client",
    "RestClient": "rest_client",
    "SoftwareAuthenticator": "authenticator",
    "World": "world",
    "in_world": "fresh_world",
    "open_chat_server": "server",
}


def __getattr__(name: str) -> Any:
    if name == "strategies":
        return importlib.import_module("chat.testing.strategies")
    if name in _HOMES:
        return getattr(importlib.import_module(f"chat.testing.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
