"""There is a strategy for every wire object and every body, and what it gives has the declared shape."""

from __future__ import annotations

import functools

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.testing import strategies
from chat.testing.strategies.declared import document

CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
MANY = settings(max_examples=60, deadline=None, suppress_health_check=CHECKS)


@functools.cache
def validator(pointer: str) -> jsonschema_rs.Draft202012Validator:
    """A validator of one schema of the document."""
    return jsonschema_rs.Draft202012Validator({"$ref": pointer, **document()})


@MANY
@given(st.data())
def test_objects_have_the_declared_shape(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(strategies.object_names()))
    value = data.draw(strategies.wire_objects(name))
    validator(f"#/components/schemas/{name}").validate(value)


@pytest.mark.long
@MANY
@given(st.data())
def test_bodies_have_the_declared_shape(data: st.DataObject) -> None:
    operation = data.draw(st.sampled_from(strategies.operations_with_bodies()))
    value = data.draw(strategies.request_bodies(operation))
    method, _, path = operation.partition(" ")
    place = path.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D")
    validator(f"#/paths/{place}/{method.lower()}/requestBody/content/application~1json/schema").validate(value)


@pytest.mark.long
@given(st.data())
@MANY
def test_what_the_issue_names_is_there(data: st.DataObject) -> None:
    for name in ("Message", "Relationship", "VoiceState", "Webhook", "ReadState"):
        if name in strategies.object_names():
            assert isinstance(data.draw(strategies.wire_objects(name)), dict)


def test_names_that_are_none() -> None:
    with pytest.raises(KeyError):
        strategies.wire_objects("Nothing")
    with pytest.raises(KeyError):
        strategies.request_bodies("GET /v1/nothing")
