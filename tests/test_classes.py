"""The decorators of `chat.classes` make what those of attrs make, with fewer methods to compile."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat import classes

FIELDS = st.lists(
    st.fixed_dictionaries({"eq": st.booleans(), "repr": st.booleans()}),
    max_size=4,
).map(lambda drawn: {f"field_{number}": options for number, options in enumerate(drawn)})
DECORATORS = ((attrs.frozen, classes.frozen), (attrs.define, classes.define))


def made(decorate: Any, fields: dict[str, Any], options: dict[str, Any], *bases: type) -> Any:
    """A class `Made` with these fields."""
    body = {name: attrs.field(**declared) for name, declared in fields.items()}
    members = {"__module__": __name__, "__qualname__": "Made", "__annotations__": dict.fromkeys(fields, Any)}
    return decorate(**options)(type("Made", bases, members | body))


def has_hash(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


@given(FIELDS, st.booleans(), st.sampled_from(DECORATORS), st.data())
def test_objects_are_compared_hashed_and_shown_as_by_attrs(
    fields: dict[str, Any], eq: bool, decorators: tuple[Any, Any], data: st.DataObject
) -> None:
    theirs, ours = (made(decorate, fields, {"eq": eq, "kw_only": True}) for decorate in decorators)
    values = st.fixed_dictionaries({name: st.integers(0, 1) for name in fields})
    one, other = data.draw(values), data.draw(values)
    assert (ours(**one) == ours(**other)) is (theirs(**one) == theirs(**other))
    assert (ours(**one) != ours(**other)) is (theirs(**one) != theirs(**other))
    assert ours(**one) != theirs(**one)
    assert repr(ours(**one)) == repr(theirs(**one))
    assert has_hash(ours(**one)) is has_hash(theirs(**one))
    if has_hash(ours(**one)) and eq:
        assert len({ours(**one), ours(**other)}) == len({theirs(**one), theirs(**other)})


@pytest.mark.parametrize("decorators", DECORATORS)
def test_methods_that_a_class_has_itself_stay(decorators: tuple[Any, Any]) -> None:
    class Own:
        number: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    for decorate in decorators:
        own: Any = decorate(type("Own", (), dict(vars(Own)) | {"__annotations__": {"number": int}}))
        assert (own(1) == own(2), hash(own(1)), repr(own(1))) == (True, 7, "own")


@pytest.mark.parametrize("decorators", DECORATORS)
def test_an_object_of_a_subclass_is_another(decorators: tuple[Any, Any]) -> None:
    for decorate in decorators:
        base = made(decorate, {"a": {}}, {})
        plain, more = made(decorate, {}, {}, base), made(decorate, {"b": {}}, {}, base)
        assert (plain(1) == base(1), plain(1) == plain(1), more(1, 2) == more(1, 2), more(1, 2) == more(1, 3)) == (
            False,
            True,
            True,
            False,
        )
        assert repr(more(1, 2)) == "Made(a=1, b=2)"


@pytest.mark.parametrize("decorators", DECORATORS)
def test_exceptions_equal_themselves_alone(decorators: tuple[Any, Any]) -> None:
    for decorate in decorators:
        error = made(decorate, {"a": {}}, {}, Exception)
        kept = error(1)
        assert kept == kept
        assert error(1) != error(1)
        assert repr(kept) == "Made(a=1)"


def test_what_holds_itself_is_shown_once() -> None:
    ours = made(classes.define, {"a": {}}, {})
    holder = ours(None)
    holder.a = holder
    assert repr(holder) == "Made(a=...)"
