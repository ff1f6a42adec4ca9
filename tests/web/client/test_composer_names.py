"""Names in place of ids: whatever a text names, what is sent of it is what came or was chosen. No page.
Area: the web client's composer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.web.client.node import Kept, NodeProcess, running_node

NAMES: Final = "views/composer/names"
RANDOM: Final = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

FORMS: Final = {
    "<@1>": ["@Bob", "@bob#0001"],
    "<@!1>": ["@Bob", "@bob#0001"],
    "<@2>": ["@Bob", "@bob#0002"],
    "<@3>": ["@Bobby", "@bobby"],
    "<@4>": ["@everyone", "@four"],
    "<@5>": ["@.*+?^${}()|[]\\/-", "@five"],
    "<@6>": ["@\u30dc\u30d6", "@bobu"],
    "<@&7>": ["@Bob"],
    "<#8>": ["#Bob", "#8"],
    "<#9>": ["#Bob"],
    "<:bob:10>": [":bob:"],
    "<a:bob:11>": [":bob:"],
}
"""Names that collide, begin with one another, and look like patterns; `<@12>` is known to nobody."""

PIECES: Final = st.sampled_from(
    [
        *FORMS,
        "<@12>",
        "@Bob",
        "@Bobby",
        "by",
        "x",
        " ",
        "\n",
        ":bob:",
        "(2)",
        " (2)",
        "#Bob",
        "@",
        "<",
        ">",
        "\U0001f331",
    ]
)
TEXTS: Final = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)


@pytest.fixture(scope="module")
def process() -> Iterator[NodeProcess]:
    """One Node for all examples."""
    with running_node() as running:
        yield running


def fresh(process: NodeProcess) -> tuple[Kept, dict[str, Any]]:
    process.forget()
    forms = process.keep("./named", "formsOf", FORMS)
    return process.keep(NAMES, "makeNames"), forms.itself()


@given(text=TEXTS)
@RANDOM
def test_what_came_with_ids_is_sent_as_it_came(process: NodeProcess, text: str) -> None:
    names, forms = fresh(process)
    shown = names.call("read", text, forms)
    assert names.call("sent", shown) == text
    parts = names.call("parts", shown)
    assert "".join(part["text"] for part in parts) == shown
    assert "".join(names.call("sent", part["text"]) if part["isName"] else part["text"] for part in parts) == text


@given(text=TEXTS, source=st.sampled_from(sorted(FORMS)), data=st.data())
@RANDOM
def test_one_more_name_changes_nothing_of_the_others(
    process: NodeProcess, text: str, source: str, data: st.DataObject
) -> None:
    names, forms = fresh(process)
    shown = names.call("read", text, forms)
    at = data.draw(st.integers(0, len(shown)))
    before, after = shown[:at], shown[at:]
    meant = names.call("sent", before) + source + names.call("sent", after)
    put = names.call("read", source, forms, before, after)
    assert names.call("sent", before + put + after) == meant


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hello <@1>", "hello @Bob"),
        ("<@1> and <@2>", "@Bob and @bob#0002"),
        ("<@1> and <@&7>", "@Bob and @Bob (2)"),
        ("@Bob is not <@1>", "@Bob is not @bob#0001"),
        ("<@3> and <@1>", "@Bobby and @Bob"),
        ("<@4>, @everyone", "@four, @everyone"),
        ("<#8> <#9>", "#Bob #Bob (2)"),
        ("<:bob:10><:bob:10>", ":bob::bob:"),
        ("me<@1>", "me<@1>"),
        ("<@12>", "<@12>"),
    ],
)
def test_how_names_are_shown(process: NodeProcess, text: str, shown: str) -> None:
    names, forms = fresh(process)
    assert names.call("read", text, forms) == shown


@pytest.mark.parametrize(
    ("text", "chosen", "form", "becomes", "stays"),
    [
        ("a word here", (2, 6), "bold", "a **word** here", "word"),
        ("a **word** here", (4, 8), "bold", "a word here", "word"),
        ("a **word** here", (2, 10), "bold", "a word here", "word"),
        ("a word here", (1, 7), "italic", "a _word_ here", "word"),
        ("a **word** here", (4, 8), "italic", "a **_word_** here", "word"),
        ("", (0, 0), "struck", "~~~~", ""),
        ("one\ntwo\nthree", (1, 5), "quote", "> one\n> two\nthree", "> one\n> two"),
        ("> one\n> two\nthree", (0, 11), "quote", "one\ntwo\nthree", "one\ntwo"),
    ],
)
def test_forms_are_put_on_and_taken_off(
    process: NodeProcess, text: str, chosen: tuple[int, int], form: str, becomes: str, stays: str
) -> None:
    done = process.call("views/composer/formatting", "formatted", text, *chosen, form)
    changed = text[: done["from"]] + done["text"] + text[done["to"] :]
    assert (changed, changed[done["start"] : done["end"]]) == (becomes, stays)


@given(text=st.text("ab *_~|`\n>", max_size=20), form=st.sampled_from(["bold", "italic", "struck", "code", "spoiler"]))
@example(text="_> _", form="italic")
@RANDOM
def test_a_form_that_is_put_on_twice_is_gone(process: NodeProcess, text: str, form: str) -> None:
    first = process.call("views/composer/formatting", "formatted", text, 0, len(text), form)
    once = text[: first["from"]] + first["text"] + text[first["to"] :]
    second = process.call("views/composer/formatting", "formatted", once, first["start"], first["end"], form)
    assert once[: second["from"]] + second["text"] + once[second["to"] :] == text
