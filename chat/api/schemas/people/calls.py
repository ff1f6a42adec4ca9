"""Calls in conversations (people.md, Calls)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import BOOLEAN, wire_object

CALL_ELIGIBILITY: Final = wire_object("CallEligibility", {"ringable": BOOLEAN, "silent": BOOLEAN})
