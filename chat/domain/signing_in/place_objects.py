"""Where a caller is, as clients of this family read it (GET /v1/ip)."""

from __future__ import annotations

from typing import Any

from chat.domain.signing_in.geolocation import Place


def own_place(place: Place) -> dict[str, Any]:
    """The object; degrees are text, as the clients have them."""
    return {
        "countryCode": place.country_code,
        "regionCode": place.region_code,
        "latitude": _degrees(place.latitude),
        "longitude": _degrees(place.longitude),
        "ageRestrictedGeos": [],
        "ageBlockedGeos": [],
    }


def _degrees(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"
