"""The gateway's dialogues once more, word for word, with the sockets at a gateway node (architecture.md, Beyond one
process). `--chat-gateway=node` does the same for every other test.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

from chat.testing import GatewayMachine
from chat.testing.gateway_machine import MACHINE_SETTINGS
from tests.gateway.test_dialogue_heartbeat import *  # noqa: F403
from tests.gateway.test_dialogue_reconnect import *  # noqa: F403
from tests.gateway.test_dialogue_resume import *  # noqa: F403
from tests.gateway.test_dialogue_states import *  # noqa: F403
from tests.gateway.test_machine_on_a_socket import *  # noqa: F403
from tests.security.test_address_bans_served import (  # noqa: F401
    test_failures_on_the_gateway_behind_such_a_proxy_count,
    test_no_socket_opens_there_and_those_open_stay,
    test_refused_tokens_on_the_gateway_count,
)

del test_below_the_replay_floor_a_session_is_lost_to_the_client  # noqa: F821 - takes as long as all others together

pytestmark = pytest.mark.at_node


@pytest.fixture
def chat_server_options(chat_server_options: dict[str, Any]) -> dict[str, Any]:
    """As every test's, with a node beside the server."""
    return {**chat_server_options, "at_node": True}


class AtNode(GatewayMachine):
    at_node = True


AtNode.TestCase.settings = settings(MACHINE_SETTINGS, max_examples=MACHINE_SETTINGS.max_examples // 2)

TestGatewayMachineAtNode = pytest.mark.long(AtNode.TestCase)
