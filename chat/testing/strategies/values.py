"""The words that everything on the wire is made of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from hypothesis import strategies as st

from chat.clock import iso_timestamp
from chat.protocol.visible_text import is_empty
from chat.protocol.whole_numbers import whole
from chat.registries.limits import SHARD_COUNT_MAXIMUM
from chat.registries.permissions import ALL_DEFINED, FULL_MASK, Permission
from chat.snowflake import snowflake_at

Body = dict[str, Any]
"""What a request says, or an object of the wire: of any kind, and wrong ones among them."""

SNOWFLAKE_MAXIMUM: Final = 2**63 - 1
"""Snowflakes fit a signed 64-bit integer (http.md, Snowflakes)."""

YEAR_2080_MS: Final = int(datetime(2080, 1, 1, tzinfo=UTC).timestamp() * 1000)
YEAR_2015_MS: Final = int(datetime(2015, 1, 1, tzinfo=UTC).timestamp() * 1000)


def snowflakes() -> st.SearchStrategy[str]:
    """Decimal strings, from the epoch to the end of the 63 bits; most of our own time."""
    times = st.integers(YEAR_2015_MS + 1, YEAR_2080_MS)
    rest = st.integers(0, 2**22 - 1)
    real = st.builds(lambda time, low: str(snowflake_at(time) | low), times, rest)
    return real | st.sampled_from(["1", str(SNOWFLAKE_MAXIMUM)])


def invalid_snowflakes() -> st.SearchStrategy[Any]:
    texts_ = st.sampled_from(["", "-1", "1.0", "0x10", " 1", "1 ", "one", "\u0661", "1e3", str(2**64), "9" * 40])
    return texts_ | st.sampled_from([True, False, 1.5, -1, [], {}, ["1"], {"id": "1"}])


def shard_pairs() -> st.SearchStrategy[list[int]]:
    """`[shard_id, shard_count]`."""
    counts = st.integers(1, 16) | st.integers(1, SHARD_COUNT_MAXIMUM)
    return counts.flatmap(lambda count: st.tuples(st.integers(0, count - 1), st.just(count)).map(list))


def timestamps() -> st.SearchStrategy[str]:
    """ISO 8601, UTC, with milliseconds and `Z`."""
    return st.integers(YEAR_2015_MS, YEAR_2080_MS).map(iso_timestamp)


def texts(minimum: int = 0, maximum: int = 100) -> st.SearchStrategy[str]:
    """Any characters that UTF-8 can carry."""
    return st.text(st.characters(codec="utf-8"), min_size=minimum, max_size=maximum)


def words(minimum: int = 1, maximum: int = 100) -> st.SearchStrategy[str]:
    """Text in which there is something to be seen, without NUL: it stays as it is."""
    characters = st.characters(codec="utf-8", exclude_characters="\0")
    return st.text(characters, min_size=minimum, max_size=maximum).filter(lambda text: not is_empty(text))


def names(minimum: int = 1, maximum: int = 32) -> st.SearchStrategy[str]:
    """Printable texts that trimming leaves as they are."""
    characters = st.characters(codec="utf-8", categories=("L", "N", "S"))
    return st.text(characters, min_size=minimum, max_size=maximum).filter(lambda text: not is_empty(text))


def permission_sets() -> st.SearchStrategy[str]:
    """Masks as decimal strings: of defined bits, all of them, and any 64 bits."""
    defined = st.sets(st.sampled_from(list(Permission))).map(lambda bits: str(int(sum(bits))))
    return defined | st.integers(0, FULL_MASK).map(str) | st.sampled_from(["0", str(ALL_DEFINED), str(FULL_MASK)])


def json_values(leaves: int = 10) -> st.SearchStrategy[Any]:
    """Anything that JSON can say, with numbers that every reader agrees on."""
    scalars = (
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts(maximum=20)
    )
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts(maximum=10), inner, max_size=4),
        max_leaves=leaves,
    )


def all_but(*kinds: type) -> st.SearchStrategy[Any]:
    """JSON values whose type is none of these; `bool` and `int` are different types here, a float without a fraction is
    an `int` as well."""
    return json_values(4).filter(lambda value: type(value) not in kinds and type(whole(value)) not in kinds)


def counts_as_null(value: Any) -> bool:
    """Whether a member of a body with this value is as good as one that is null (http.md, Empty values)."""
    if isinstance(value, dict):
        return all(counts_as_null(member) for member in value.values())
    return value is None or value == ""


def wrong_type(*kinds: type) -> st.SearchStrategy[Any]:
    """Values of none of these types, which do not count as null either: that would be as if they were missing."""
    return all_but(*kinds).filter(lambda value: not counts_as_null(value))


def broken(bodies: st.SearchStrategy[Body], member: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Body]:
    """These bodies with one of these values as this member."""
    return st.builds(lambda body, value: {**body, member: value}, bodies, values)


def one_broken(bodies: st.SearchStrategy[Body], wrong: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Body]:
    """These bodies with one member that is wrong, of those named."""
    return st.one_of([broken(bodies, member, values) for member, values in wrong.items()])
