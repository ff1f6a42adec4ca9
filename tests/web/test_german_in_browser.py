"""The pages, the console and the client for somebody whose browser prefers German: no sentence is left in English."""

from __future__ import annotations

from typing import Final

import pytest

from chat.words import catalogue
from tests.web.browsing import Instance, Visitor
from tests.web.conftest import MakeVisitor
from tests.web.test_console_journey import Administrator

PHONE: Final = {"width": 360, "height": 740}

ENGLISH: Final = sorted(
    english
    for surface in ("pages", "console", "errors")
    for english, german in catalogue("de", surface).items()
    if english.count(" ") > 1 and german != english and "{" not in english and "<" not in english and "%" not in english
)

PLACES: Final = (
    ("/admin", "Verwaltung"),
    ("/admin/users", "Konten"),
    ("/admin/users/{admin}", "admin"),
    ("/admin/guilds", "Communitys"),
    ("/admin/guilds/{guild}", "Seeded guild"),
    ("/admin/messages", "Nachrichten"),
    ("/admin/reports", "Meldungen"),
    ("/admin/discovery", "Öffentliche Suche"),
    ("/admin/blocklists", "Sperrlisten"),
    ("/admin/audit-log", "Protokoll"),
    ("/admin/jobs", "Aufträge"),
    ("/admin/archives", "Archive"),
    ("/admin/keys", "API-Schlüssel"),
    ("/admin/storage", "Speicher"),
    ("/admin/instance", "Instanz"),
)


def english_on(visitor: Visitor) -> list[str]:
    """The English sentences that are seen on the page."""
    shown = visitor.page.locator("body").inner_text()
    return [sentence for sentence in ENGLISH if sentence in shown]


@pytest.fixture
def german(visit: MakeVisitor) -> Visitor:
    """Somebody with a German telephone."""
    return visit(viewport=PHONE, locale="de-AT")


def test_signing_in_and_the_settings(german: Visitor, home: Instance) -> None:
    person = home.person("bob")
    german.goes_to("/login")
    german.fills(email=person["email"], password="not the password")
    german.presses("Anmelden")
    german.is_told("Die E-Mail-Adresse oder das Passwort ist falsch.")
    assert english_on(german) == []
    german.fills(password=person["password"])
    german.presses("Anmelden")
    german.enters()
    german.goes_to("/settings")
    german.page.get_by_role("heading", name="Einstellungen").first.wait_for()
    german.page.get_by_text("Du hast noch keinen.").wait_for()
    german.page_is_accessible()
    german.page_fits()
    assert english_on(german) == []
    german.fills(new_password="four unrelated words")
    german.presses("Passwort ändern")
    german.confirms("Abbrechen")
    german.is_told("Nichts wurde geändert.")


def test_the_client_says_why_the_server_refuses(visit: MakeVisitor, home: Instance) -> None:
    german: Visitor = visit(locale="de")
    person = home.person("carol")
    german.goes_to("/login")
    german.fills(email=person["email"], password=person["password"])
    german.presses("Anmelden")
    german.enters()
    german.presses("Community hinzufügen")
    german.page.get_by_role("menuitem", name="Mit Einladung beitreten").click()
    dialog = german.page.get_by_role("dialog")
    dialog.get_by_label("Einladung", exact=True).fill("none")
    dialog.get_by_role("button", name="Beitreten").click()
    dialog.get_by_text("Diese Einladung gibt es nicht, oder sie ist abgelaufen.").wait_for()


def test_every_place_of_the_console(visit: MakeVisitor, home: Instance) -> None:
    administrator: Administrator = visit(kind=Administrator, viewport=PHONE, locale="de-DE")
    person = home.world["admin"]
    administrator.goes_to("/admin")
    administrator.fills(email=person["email"], password=person["password"])
    administrator.presses("Anmelden")
    administrator.arrives_at("/admin")
    known = {"admin": person["id"], "guild": home.world["guild_id"]}
    for path, heading in PLACES:
        administrator.goes_to(path.format(**known))
        administrator.page.locator("#view h1").filter(has_text=heading).wait_for()
        assert english_on(administrator) == [], path
        administrator.page_fits()
    administrator.page_is_accessible()
