"""One letter, two parts, headers that nothing forges."""

from __future__ import annotations

import html.parser
from email.message import EmailMessage
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.errors import OperatorError
from chat.mail.mailer import Action, Letter
from chat.mail.outbox import address_for_smtp
from chat.mail.smtp import html_of, message_of, require_sender

LETTER = Letter(
    subject="Confirm your address for Chat",
    paragraphs=("Somebody gave this address.", "Confirm it."),
    action=Action("Confirm", "https://chat.example/verify#token=abc&x=1"),
    closing=("If it was not you, do nothing.",),
)


def message(letter: Letter = LETTER, **changes: Any) -> EmailMessage:
    members: dict[str, Any] = {
        "recipient": "zoe@example.com",
        "sender": "chat@example.com",
        "service_name": "Chat",
        "message_id": "1.2@example.com",
        "written_at": 1_700_000_000_000,
    }
    return message_of(letter, **(members | changes))


def part(made: EmailMessage, kind: str) -> str:
    body = made.get_body((kind,))
    assert isinstance(body, EmailMessage)
    return str(body.get_content())


def test_a_message_has_both_parts_and_says_that_no_person_wrote_it() -> None:
    made = message()
    assert made.get_content_type() == "multipart/alternative"
    assert made["From"] == "Chat <chat@example.com>"
    assert made["To"] == "zoe@example.com"
    assert made["Subject"] == LETTER.subject
    assert made["Date"] == "Tue, 14 Nov 2023 22:13:20 +0000"
    assert made["Message-ID"] == "<1.2@example.com>"
    assert made["Auto-Submitted"] == "auto-generated"
    assert not [name for name in made.keys() if name.lower().startswith("list-")]  # noqa: SIM118 - not a mapping
    assert part(made, "plain").replace("\r\n", "\n") == LETTER.text
    assert "https://chat.example/verify#token=abc&amp;x=1" in part(made, "html")


def test_the_plain_text_says_the_same_in_the_same_order() -> None:
    assert LETTER.text == (
        "Somebody gave this address.\n\nConfirm it.\n\n"
        "Confirm:\nhttps://chat.example/verify#token=abc&x=1\n\nIf it was not you, do nothing.\n"
    )


def test_a_code_stands_in_both_parts() -> None:
    letter = Letter(subject="Your code", paragraphs=("Type this:",), code="123 456")
    assert "\n    123 456\n" in letter.text
    assert "123 456" in html_of(letter, "Chat")
    assert "<a " not in html_of(letter, "Chat")


def test_html_fetches_nothing_and_knows_the_dark() -> None:
    text = html_of(LETTER, "Chat")
    assert [word for word in ("<img", "<link", "<script", "url(", "@import") if word in text] == []
    assert "prefers-color-scheme: dark" in text
    assert '<meta name="color-scheme" content="light dark">' in text


class Words(html.parser.HTMLParser):
    """The text that a reader sees, and every tag on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(paragraph=TEXT, name=TEXT, label=TEXT)
def test_what_people_chose_is_text_and_nothing_else(paragraph: str, name: str, label: str) -> None:
    letter = Letter(subject="x", paragraphs=(paragraph,), action=Action(label, "https://chat.example/"))
    words = Words()
    words.feed(html_of(letter, name))
    words.close()
    assert words.tags <= {"html", "head", "meta", "title", "style", "body", "table", "tr", "td", "p", "h1", "a", "br"}
    assert paragraph.replace("\r\n", "\n").replace("\r", "\n") in words.text.replace("\r\n", "\n").replace("\r", "\n")


@given(subject=st.text(max_size=200), name=st.text(max_size=100))
def test_no_header_is_forged(subject: str, name: str) -> None:
    hostile = f"{subject}\r\nBcc: everyone@example.com\nX: {subject}"
    try:
        made = message(Letter(subject=hostile, paragraphs=("x",)), service_name=f"{name}\r\nBcc: all@example.com")
    except UnicodeEncodeError:
        return
    head, _, _ = made.as_bytes().partition(b"\r\n\r\n")
    names = [line.partition(b":")[0] for line in head.split(b"\r\n") if not line.startswith((b" ", b"\t"))]
    assert sorted(names) == sorted(
        [b"From", b"To", b"Subject", b"Date", b"Message-ID", b"Auto-Submitted", b"MIME-Version", b"Content-Type"]
    )


@pytest.mark.parametrize(
    "recipient",
    ["zoe@example.com\r\nBcc: all@example.com", "a b@example.com", "", "@", "zoe", "<zoe@example.com>, b@c.d"],
)
def test_a_recipient_that_no_header_can_hold(recipient: str) -> None:
    with pytest.raises(ValueError, match="not a mail address"):
        message(recipient=recipient)


def test_the_domain_of_an_address_is_written_in_ascii() -> None:
    assert address_for_smtp("zoe@bücher.example") == "zoe@xn--bcher-kva.example"
    assert address_for_smtp("zoe@example.com") == "zoe@example.com"


def test_a_sender_that_is_none_stops_the_start() -> None:
    assert require_sender("chat@example.com") == "chat@example.com"
    for sender in ("chat@", "a@b@c", "chat@exam ple.com"):
        with pytest.raises(OperatorError, match=r"mail\.from"):
            require_sender(sender)
