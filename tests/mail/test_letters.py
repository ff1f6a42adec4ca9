"""The words of the mails that carry a secret."""

from __future__ import annotations

import pytest

from chat.mail import letters
from chat.mail.mailer import Mail

TO = "bob@example.com"
HERE = {"service_name": "Ours", "public_url": "https://chat.example"}
TOKEN = "T" * 64
CODE = "ABCD-EFGH"

LINKS = [
    (letters.verification(TO, **HERE, token=TOKEN), "/verify"),
    (letters.password_reset(TO, **HERE, token=TOKEN), "/reset"),
    (letters.email_revert(TO, **HERE, token=TOKEN), "/email-revert"),
]
CODES = [
    letters.password_change(TO, service_name="Ours", code=CODE),
    letters.email_change_from(TO, service_name="Ours", code=CODE),
    letters.email_change_to(TO, service_name="Ours", code=CODE),
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
