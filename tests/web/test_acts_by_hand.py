"""Every act of the web client is done by some browser test, by the hand of a person. Area: the web client as a whole.

`acts_by_hand.json` names the test of each. It is written by `tests/web/acts_record.py`, which watches what pages call.
"""

from __future__ import annotations

import json
from typing import Final

from tests.web.acts_record import TABLE, acts_of_the_client, exists

HOW: Final = (
    "write a browser test that does it, then: TESTS_RECORD_ACTS=acts.txt python -m pytest -m long FILE && "
    "python -m tests.web.acts_record acts.txt"
)

WITHOUT: Final = frozenset(
    {
        "account.settings",
        "accountSettings.archiveAddress",
        "accountSettings.close",
        "accountSettings.endSessions",
        "accountSettings.orderArchive",
        "accountSettings.passkeyOptions",
        "accountSettings.putWords",
        "accountSettings.subscribe",
        "accountSettings.unsubscribe",
        "guildSettings.applyToDiscovery",
        "guildSettings.changeDiscovery",
        "guildSettings.deleteRole",
        "guildSettings.discovery",
        "guildSettings.moveChannels",
        "guildSettings.setVanity",
        "guildSettings.transfer",
        "guildSettings.vanity",
        "guildSettings.withdrawFromDiscovery",
        "guilds.categories",
        "guilds.channelNotifications",
        "guilds.create",
        "guilds.discover",
        "guilds.enterForAdults",
        "guilds.isForAdultsEntered",
        "guilds.joinDiscovered",
        "guilds.leave",
        "guilds.order",
        "guilds.settings",
        "interest.presence",
        "messages.discard",
        "messages.follow",
        "messages.publish",
        "messages.retry",
        "messages.saved",
        "messages.search",
        "people.addToGroup",
        "people.ban",
        "people.befriend",
        "people.changeGroup",
        "people.closeConversation",
        "people.remove",
        "threads.find",
        "threads.post",
        "threads.start",
    }
)
"""Those that no test does yet. It only grows shorter."""


def test_every_act_is_done_by_a_test() -> None:
    table: dict[str, str] = json.loads(TABLE.read_text())
    acts = acts_of_the_client()
    missing = sorted(set(acts) - set(table) - WITHOUT)
    assert missing == [], f"{TABLE.name} has no test for {missing}: {HOW}"
    assert sorted(set(table) - set(acts)) == [], f"{TABLE.name} names acts that are gone"
    assert sorted(WITHOUT & set(table)) == [], "take them out of WITHOUT: they have a test now"
    assert sorted(WITHOUT - set(acts)) == [], "take them out of WITHOUT: they are gone"
    assert [test for test in table.values() if not exists(test)] == [], f"{TABLE.name} names tests that are gone"
