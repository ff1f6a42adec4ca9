"""What the kernel and the handlers stand on, and how a handler gets the part that it names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from chat.api.rate_limit import RateLimiter
from chat.auth.address_bans import AddressBans
from chat.auth.captcha import Captcha
from chat.domain.areas import Areas
from chat.domain.core import Core


@attrs.frozen(kw_only=True)
class Backend:
    """The domain by its areas, and what the API has beside it."""

    core: Core
    areas: Areas
    limiter: RateLimiter
    captcha: Captcha
    address_bans: AddressBans
    others: tuple[object, ...] = ()
    """What single handlers ask for besides."""
    _by_name: Mapping[str, object] = attrs.field(init=False)

    @_by_name.default
    def _parts_by_name(self) -> Mapping[str, object]:
        areas = attrs.asdict(self.areas, recurse=False).values()
        parts = (self.core, self.limiter, self.captcha, self.address_bans, *areas, *self.others)
        return {type(part).__name__: part for part in parts}

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with each parameter filled in whose annotation names one of these parts."""
        named = {
            parameter: self._by_name[annotation]
            for parameter, annotation in function.__annotations__.items()
            if annotation in self._by_name and parameter != "return"
        }
        return functools.partial(function, **named) if named else function
