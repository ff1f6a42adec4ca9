"""The words of the mails that carry a secret."""

from __future__ import annotations

import json

import attrs
import pytest

from chat.mail import letters
from chat.mail.letters import Letterhead
from chat.mail.mailer import Mail
from chat.mail.outbox import letter_from
from chat.words import LANGUAGES

TO = "bob@example.com"
HERE = Letterhead("Ours", "https://chat.example")
TOKEN = "T" * 64
CODE = "ABCD-EFGH"

LINKS = [
    (letters.verification(HERE, TO, token=TOKEN), "/verify"),
    (letters.password_reset(HERE, TO, token=TOKEN), "/reset"),
    (letters.email_revert(HERE, TO, token=TOKEN), "/email-revert"),
]
CODES = [
    letters.password_change(HERE, TO, code=CODE),
    letters.email_change_from(HERE, TO, code=CODE),
    letters.email_change_to(HERE, TO, code=CODE),
]


@pytest.mark.parametrize(("mail", "path"), LINKS)
def test_a_link_has_its_secret_where_browsers_send_it_to_nobody(mail: Mail, path: str) -> None:
    assert mail.letter.action is not None
    assert mail.letter.action.link == f"https://chat.example{path}#token={TOKEN}"
    assert mail.letter.action.link in mail.letter.text
    assert (mail.recipient, mail.token) == (TO, TOKEN)


@pytest.mark.parametrize("mail", CODES)
def test_a_code_stands_by_itself(mail: Mail) -> None:
    assert f"\n\n    {CODE}\n\n" in mail.letter.text
    assert mail.letter.action is None, "who is told to type does not click"
    assert "ten minutes" in mail.letter.text


@pytest.mark.parametrize("mail", [*(mail for mail, _ in LINKS), *CODES])
def test_who_did_not_ask_is_told_what_to_do(mail: Mail) -> None:
    text = mail.letter.text
    assert any(words in text for words in ("If it was not you", "If you did not"))
    assert "Ours" in mail.letter.subject
    for shown in (repr(mail), mail.letter.subject):
        assert TOKEN not in shown
        assert CODE not in shown


def test_a_letter_that_was_sealed_before_there_were_languages_is_english() -> None:
    sealed = {**attrs.asdict(CODES[0].letter)}
    del sealed["language"]
    assert letter_from(json.dumps(sealed).encode()) == CODES[0].letter


def test_what_people_wrote_stays_as_it_is() -> None:
    reason = "{service_name} {nothing} %s"
    for language in LANGUAGES:
        mail = letters.unban(Letterhead("{Ours}", "https://chat.example", language), TO, reason=reason)
        assert reason in mail.letter.text
        assert "{Ours}" in mail.letter.subject
