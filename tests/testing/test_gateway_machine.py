"""The machine against a fresh server in memory, on virtual time."""

from __future__ import annotations

from chat.testing import GatewayMachine

TestGatewayMachine = GatewayMachine.TestCase
