"""Request limits on demand (development.md, Limits): `chat dev` counts nothing by itself, and a test that wants to see
429 should not have to send fifty requests for it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Final

import attrs

from chat.api import buckets
from chat.api.fields import OMITTED, Items, Length, Maybe, Omitted, Range
from chat.api.operation import Policy, Request, Routes
from chat.api.rate_limit import GLOBAL, Bucket, RateLimiter
from chat.classes import define, frozen
from chat.development.answers import LimitsState, ShownBucket
from chat.errors import FieldError, InvalidFormBody
from chat.gateway.gateway import Gateway
from chat.registries.error_codes import FieldCode

LIMIT_MAXIMUM: Final = 100_000
WINDOW_MINIMUM_MS: Final = 100
WINDOW_MAXIMUM_MS: Final = 86_400_000
CHOSEN_MAXIMUM: Final = 1_000
SIMILAR_NAMES: Final = 5


@frozen
class ChosenLimit:
    """How one bucket is to count; omitted members are those of production."""

    enabled: bool = True
    limit: Annotated[int, Range(1, LIMIT_MAXIMUM)] | None = None
    window_ms: Annotated[int, Range(WINDOW_MINIMUM_MS, WINDOW_MAXIMUM_MS)] | None = None

    def applied_to(self, bucket: Bucket) -> Bucket | None:
        """The bucket in its place; None where nothing is to be counted."""
        if not self.enabled:
            return None
        return attrs.evolve(bucket, limit=self.limit or bucket.limit, window_ms=self.window_ms or bucket.window_ms)


@frozen
class LimitsChange:
    """What is to be different. A bucket of null goes back to what `enabled` says of all."""

    enabled: Maybe[bool] = OMITTED
    gateway: Maybe[bool] = OMITTED
    buckets: Annotated[dict[Annotated[str, Length(1, 100)], ChosenLimit | None], Items(0, CHOSEN_MAXIMUM)] = (
        attrs.Factory(dict)
    )


@define
class Limits:
    """Every bucket of the server by its name, with the operations that count in it, and what was chosen of them."""

    limiter: RateLimiter
    gateway: Gateway
    routes: Sequence[Routes]
    counted_at_start: bool
    _counts_others: bool = attrs.field(init=False)
    _chosen: dict[str, ChosenLimit] = attrs.field(factory=dict, init=False)

    @_counts_others.default
    def _counts_others_at_start(self) -> bool:
        return self.counted_at_start

    @cached_property
    def declared(self) -> Mapping[str, tuple[Bucket, Sequence[str]]]:
        """Made when it is first asked for: a start need not look through all operations."""
        return declared_buckets(self.routes)

    def change(self, change: LimitsChange) -> None:
        """:raises InvalidFormBody: at a bucket that does not exist; nothing is changed then."""
        unknown = [name for name in change.buckets if name not in self.declared]
        if unknown:
            raise InvalidFormBody([self._unknown(name) for name in unknown])
        if not isinstance(change.gateway, Omitted):
            self.gateway.count_budgets(change.gateway)
        if not isinstance(change.enabled, Omitted):
            self._counts_others = change.enabled
        for name, chosen in change.buckets.items():
            if chosen is None:
                self._chosen.pop(name, None)
            else:
                self._chosen[name] = chosen
        self._put_in_force()

    def clear(self) -> None:
        """Back to what the server was started with."""
        self._counts_others = self.counted_at_start
        self._chosen.clear()
        self.gateway.count_budgets(self.counted_at_start)
        self._put_in_force()

    def state(self) -> LimitsState:
        return {
            "enabled": self._counts_others,
            "gateway": self.gateway.admission.rate_limited,
            "buckets": [self._bucket_object(name) for name in sorted(self.declared)],
        }

    def _put_in_force(self) -> None:
        chosen = {name: chosen.applied_to(self.declared[name][0]) for name, chosen in self._chosen.items()}
        self.limiter.choose(counts_others=self._counts_others, chosen=chosen)

    def _bucket_object(self, name: str) -> ShownBucket:
        declared, operations = self.declared[name]
        in_force = self.limiter.in_force(declared)
        shown = in_force or declared
        return {
            "name": name,
            "public_name": declared.public_name,
            "enabled": in_force is not None,
            "limit": shown.limit,
            "window_ms": shown.window_ms,
            "chosen": name in self._chosen,
            "operations": list(operations),
        }

    def _unknown(self, name: str) -> FieldError:
        similar = difflib.get_close_matches(name, self.declared, n=SIMILAR_NAMES, cutoff=0.4)
        hint = f" Similar names: {', '.join(similar)}." if similar else ""
        message = f"There is no such bucket.{hint} GET /v1/_dev/limits lists all."
        return FieldError(f"buckets.{name}", FieldCode.INVALID_FORMAT, message)


def declared_buckets(routes: Sequence[Routes]) -> dict[str, tuple[Bucket, list[str]]]:
    """All buckets, those that handlers count in by themselves without operations."""
    own = [GLOBAL, *(value for value in vars(buckets).values() if isinstance(value, Bucket))]
    found: dict[str, tuple[Bucket, list[str]]] = {bucket.name: (bucket, []) for bucket in own}
    for operation in (operation for module in routes for operation in module.operations):
        if operation.bucket is not None:
            _, operations = found.setdefault(operation.bucket.name, (operation.bucket, []))
            operations.append(f"{operation.method} {operation.path}")
    return found


routes = Routes(policy=Policy.NONE, same_origin=True)


@routes.operation("GET", "/v1/_dev/limits")
async def read_limits(request: Request, limits: Limits) -> LimitsState:
    """Every bucket, and whether and how it counts at present."""
    return limits.state()


# `{"name": null}` says something here, so it may not become null as a whole.
@routes.operation("POST", "/v1/_dev/limits", empty_strings_are_null=False)
async def change_limits(request: Request, limits: Limits, body: LimitsChange) -> LimitsState:
    """Count as in production, or in chosen buckets by chosen numbers."""
    limits.change(body)
    return limits.state()
