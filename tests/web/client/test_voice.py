"""Two people in a voice channel and in calls, each in a browser of their own: what one says and shows arrives at the
other, by the receiver's own counts and by the pixels. Microphone and camera are those that Chromium makes up: a beep, a
clock. Area: web client, voice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import attrs
import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.web.browsing import FLAGS, SHELL, WAIT_MS, Instance, instance
from tests.web.client.test_shell import DESK, PHONE, Member, is_fine
from tests.web.conftest import MakeVisitor

DEVICES: Final = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")

WATCHED: Final = """
window.peers = []; window.sockets = [];
window.RTCPeerConnection = class extends RTCPeerConnection {
  constructor(...rest) { super(...rest); window.peers.push(this); }
};
window.WebSocket = class extends WebSocket {
  constructor(...rest) { super(...rest); window.sockets.push(this); }
};
window.AudioContext = class extends AudioContext {
  createMediaStreamSource(stream) {
    const source = super.createMediaStreamSource(stream);
    window.analyser = source.connect(this.createAnalyser());
    return source;
  }
  createOscillator() {
    window.tones = (window.tones ?? 0) + 1;
    return super.createOscillator();
  }
};
"""
"""Keeps what the page connects with where a test can look at it."""

RECEIVED: Final = """async kind => {
  const found = { packets: 0, energy: 0, level: 0, frames: 0, streams: 0 };
  for (const peer of window.peers.filter(one => one.connectionState === "connected")) {
    for (const report of (await peer.getStats()).values()) {
      if (report.type !== "inbound-rtp" || report.kind !== kind) continue;
      found.streams += 1;
      found.packets += report.packetsReceived;
      found.energy += report.totalAudioEnergy ?? 0;
      found.level = Math.max(found.level, report.audioLevel ?? 0);
      found.frames += report.framesDecoded ?? 0;
    }
  }
  return found;
}"""

REFUSED: Final = """() => {
  navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("refused", "NotAllowedError"); };
}"""
"""What a browser does whose person refuses: this one is made to allow everything."""

LOUDEST: Final = """() => {
  const wave = new Float32Array(window.analyser.fftSize);
  window.analyser.getFloatTimeDomainData(wave);
  return Math.max(...wave);
}"""
"""What goes through an amplifier now. Chromium counts no energy of a voice that only an amplifier plays."""

PIXELS: Final = """video => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [96, 54];
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0, 96, 54);
  return [...context.getImageData(0, 0, 96, 54).data].join();
}"""


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    """An instance that carries sound."""
    with instance(CHAT_VOICE__ENGINE="embedded", CHAT_VOICE__UDP_PORT="0") as running:
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser that has a microphone, a camera and a screen, and whose person lets the page use them."""
    if SHELL is None:
        pytest.skip("no chromium on this machine")
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=SHELL, args=[*FLAGS, *DEVICES], headless=True)
        yield browser
        browser.close()


class Speaker(Member):
    """Somebody in the client who goes into voice."""

    def joins(self, band: Band) -> None:
        """Press the voice channel, and wait until sound can flow."""
        self.page.locator(f"a[data-channel='{band.voice}']").click()
        expect(self.page.locator(".voice-bar[data-phase=live]")).to_be_visible()

    def bar(self, name: str) -> Locator:
        """A button of the bar."""
        return self.page.locator(".voice-bar").get_by_role("button", name=name, exact=True)

    def receives(self, kind: str) -> dict[str, Any]:
        """What has come so far."""
        found: dict[str, Any] = self.page.evaluate(RECEIVED, kind)
        return found

    def hears(self) -> None:
        """Wait until a voice is heard, from now on."""
        before = self.receives("audio")

        def is_heard() -> bool:
            now = self.receives("audio")
            return now["packets"] > before["packets"] and now["energy"] > before["energy"] + 1e-6

        self.until(is_heard)

    def sees(self, tile: Locator) -> None:
        """Wait until a picture moves."""
        video = tile.locator("video")
        expect(video).to_be_visible()
        self.until(lambda: video.evaluate("video => video.videoWidth > 0"))
        first = video.evaluate(PIXELS)
        self.until(lambda: video.evaluate(PIXELS) != first)

    def people(self) -> Locator:
        """Who is in the voice channel, by the list."""
        return self.page.get_by_role("list", name="In this voice channel").get_by_role("listitem")


@attrs.frozen
class Band:
    """A guild with a text and a voice channel that alice owns and bob is in."""

    guild: str
    text: str
    voice: str


@pytest.fixture(scope="module")
def band(home: Instance) -> Band:
    alice, bob = home.person("alice"), home.person("bob")
    guild = home.call("POST", "/v1/guilds", {"name": "Band"}, alice["token"])["id"]
    channels = home.call("GET", f"/v1/guilds/{guild}/channels", token=alice["token"])
    text, voice = (next(one["id"] for one in channels if one["type"] == kind) for kind in (0, 2))
    invite = home.call("POST", f"/v1/channels/{text}/invites", {}, alice["token"])
    home.call("POST", f"/v1/invites/{invite['code']}", {}, bob["token"])
    return Band(guild, text, voice)


def enters(visit: MakeVisitor, name: str, band: Band, **options: Any) -> Speaker:
    options = {"viewport": DESK, "reduced_motion": "reduce", **options}
    speaker: Speaker = visit(kind=Speaker, **options)
    speaker.context.add_init_script(WATCHED)
    speaker.enters_as(name, f"/channels/{band.guild}/{band.text}")
    return speaker


def test_two_people_hear_and_see_each_other(visit: MakeVisitor, band: Band) -> None:
    alice, bob = enters(visit, "alice", band), enters(visit, "bob", band)
    alice.joins(band)
    bob.joins(band)
    alice.hears()
    bob.hears()
    for one in (alice, bob):
        expect(one.people()).to_have_count(2)
        expect(one.page.locator(".speakers .speaking").first).to_be_visible()
    is_fine(bob)

    # Muted, nothing is heard; the other sees it.
    bob.page.keyboard.press("Control+Shift+M")
    expect(bob.bar("Unmute")).to_be_visible()
    expect(alice.people().filter(has_text="Bob").get_by_text("Muted")).to_be_attached()
    alice.until(lambda: alice.receives("audio")["level"] == 0)
    before = alice.receives("audio")["energy"]
    alice.page.wait_for_timeout(1_500)
    assert alice.receives("audio")["energy"] - before < 1e-6
    bob.bar("Unmute").click()
    alice.hears()

    # Deaf, one is silent as well.
    bob.page.keyboard.press("Control+Shift+D")
    expect(alice.people().filter(has_text="Bob").get_by_text("Hears nothing")).to_be_attached()
    bob.bar("Hear again").click()
    alice.hears()

    # The camera's picture.
    bob.bar("Turn the camera on").click()
    expect(alice.people().filter(has_text="Bob").get_by_text("Shows the camera")).to_be_attached()
    alice.sees(alice.page.locator(".voice-tile").filter(has_text="Bob"))
    alice.page_is_accessible()
    alice.page.set_viewport_size(PHONE)
    alice.page_fits()
    alice.page_is_accessible()
    alice.page.set_viewport_size(DESK)
    bob.bar("Turn the camera off").click()
    expect(alice.page.locator(".voice-tile video")).to_have_count(0)

    # Whoever leaves is gone for the other, and comes back.
    bob.bar("Leave voice").click()
    expect(alice.people()).to_have_count(1)
    expect(bob.page.locator(".voice-bar")).to_be_hidden()
    bob.page.get_by_role("button", name="Join voice").click()
    alice.hears()


def test_what_moderators_do_and_what_a_network_does(visit: MakeVisitor, home: Instance, band: Band) -> None:
    owner, member = home.person("alice"), home.person("bob")
    made = {"name": "Rehearsal", "type": 2}
    other = home.call("POST", f"/v1/guilds/{band.guild}/channels", made, owner["token"])["id"]

    def moderate(**changes: Any) -> None:
        home.call("PATCH", f"/v1/guilds/{band.guild}/members/{member['id']}", changes, owner["token"])

    alice, bob = enters(visit, "alice", band), enters(visit, "bob", band)
    alice.joins(band)
    bob.joins(band)
    alice.hears()

    # Moved, he is told where to; she follows by a press, and hears him there.
    moderate(channel_id=other)
    bob.is_told("You were moved to Rehearsal")
    expect(bob.page.locator(".voice-where")).to_have_text("Rehearsal · Band")
    alice.page.locator(f"a[data-channel='{other}']").click()
    expect(alice.page.locator(".voice-bar[data-phase=live] .voice-where")).to_have_text("Rehearsal · Band")
    alice.hears()

    # Muted by her, he is not heard.
    moderate(mute=True)
    expect(alice.people().filter(has_text="Bob").get_by_text("Muted")).to_be_attached()
    alice.until(lambda: alice.receives("audio")["streams"] == 0 or alice.receives("audio")["level"] == 0)
    moderate(mute=False)
    alice.hears()

    # The way to the media server breaks: he comes back by himself.
    bob.page.evaluate("window.sockets.filter(one => one.url.includes('/rtc')).at(-1).close()")
    expect(bob.page.locator(".voice-bar[data-phase=again]")).to_be_visible()
    expect(bob.page.locator(".voice-bar[data-phase=live]")).to_be_visible()
    alice.hears()
    bob.hears()

    # The channel goes, and both are told.
    home.call("DELETE", f"/v1/channels/{other}", token=owner["token"])
    for one in (alice, bob):
        one.is_told("The voice channel is not there any more.")
        expect(one.page.locator(".voice-bar")).to_be_hidden()

    # Sent away, he is told.
    bob.joins(band)
    moderate(channel_id=None)
    bob.is_told("You were disconnected from the voice channel.")


def test_a_screen_a_refused_microphone_and_the_settings(visit: MakeVisitor, band: Band) -> None:
    alice, bob = enters(visit, "alice", band), enters(visit, "bob", band)
    bob.page.evaluate(REFUSED)
    bob.joins(band)
    bob.is_told("the browser does not let this page use the microphone")
    alice.joins(band)
    bob.hears()  # he listens all the same

    alice.bar("Share the screen").click()
    bob.sees(bob.page.locator(".voice-tile.screen").filter(has_text="Screen of Alice"))
    is_fine(bob)
    alice.bar("Stop sharing the screen").click()
    expect(bob.page.locator(".voice-tile.screen")).to_have_count(0)

    # How loud somebody is here, to twice as loud.
    bob.people().filter(has_text="Alice").get_by_role("button").click()
    slider = bob.page.get_by_label("Volume")
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^200"))
    bob.page_is_accessible()
    bob.page.keyboard.press("Escape")
    bob.until(lambda: bob.page.evaluate(LOUDEST) > 0.1)
    bob.people().filter(has_text="Alice").get_by_role("button").click()
    slider.fill("100")
    bob.page.keyboard.press("Escape")
    bob.hears()

    # Devices are tried out while one is in voice.
    alice.bar("Voice settings").click()
    alice.page.get_by_role("button", name="Try the microphone").click()
    meter = alice.page.get_by_role("meter", name="Level of the microphone")
    alice.until(lambda: int(meter.get_attribute("aria-valuenow") or "0") > 0)
    is_fine(alice)
    alice.page.get_by_role("switch", name="Take out echo").uncheck()
    alice.page.set_viewport_size(PHONE)
    alice.page_fits()
    alice.page.set_viewport_size(DESK)
    bob.hears()
    alice.page.get_by_role("switch", name="Speak only while the key is held").check()
    bob.until(lambda: bob.receives("audio")["level"] == 0)
    alice.page.keyboard.down("Backquote")
    bob.hears()
    alice.page.keyboard.up("Backquote")


@pytest.fixture
def friends(home: Instance) -> str:
    """The conversation of alice and bob, who are friends; its id."""
    alice, bob = home.person("alice"), home.person("bob")
    home.call("POST", "/v1/_dev/relationships", {"user_id": alice["id"], "target_user_id": bob["id"], "type": 1})
    found: str = home.call("POST", "/v1/users/@me/channels", {"recipient_id": bob["id"]}, alice["token"])["id"]
    home.call("POST", f"/v1/channels/{found}/messages", {"content": "May I call?"}, alice["token"])
    return found


def rings(page: Page) -> Locator:
    """What a tab shows while alice calls."""
    return page.get_by_role("dialog", name="Alice")


def test_a_call_rings_in_every_tab_until_it_is_over(
    visit: MakeVisitor, home: Instance, band: Band, friends: str
) -> None:
    alice, bob = enters(visit, "alice", band), enters(visit, "bob", band)
    first, second = bob.page, bob.context.new_page()
    bob.watch(second)
    second.goto(f"/channels/@me/{friends}")
    second.locator(".app.ready").wait_for(state="attached")
    for page in (first, second):
        page.mouse.click(640, 300)  # a browser lets nothing sound before
    alice.page.goto(f"/channels/@me/{friends}")
    head = alice.page.locator(".talk-head")
    sign = second.locator(f"a[data-channel='{friends}']").get_by_text("A call is going on")

    # It rings in both tabs, and one of them is heard.
    head.get_by_role("button", name="Call", exact=True).click()
    expect(alice.page.get_by_role("status").filter(has_text="Calling Bob").first).to_be_visible()
    for page in (first, second):
        expect(rings(page)).to_contain_text("Incoming call")
        expect(page).to_have_title(re.compile("Alice is calling"))
    tones = "() => window.tones ?? 0"
    bob.until(lambda: first.evaluate(tones) + second.evaluate(tones) > 0)
    assert 0 in (first.evaluate(tones), second.evaluate(tones))
    is_fine(bob)
    first.set_viewport_size(PHONE)
    bob.page_fits()
    first.set_viewport_size(DESK)

    # Taken by keyboard in one of them: they hear each other.

    def is_reached() -> object:
        first.keyboard.press("F6")
        return rings(first).evaluate("one => one.matches(':focus')")

    bob.until(is_reached)
    first.keyboard.press("Tab")
    first.keyboard.press("Enter")
    for page in (first, second):
        expect(rings(page)).to_have_count(0)
    expect(first.locator(".voice-bar[data-phase=live]")).to_be_visible()
    alice.hears()
    bob.hears()
    expect(sign).to_be_attached()
    is_fine(alice)
    alice.page.set_viewport_size(PHONE)
    alice.page_fits()
    alice.page.set_viewport_size(DESK)

    # Between two a call is over when one hangs up.
    alice.bar("Hang up").click()
    bob.is_told("The call has ended.")
    for one in (alice, bob):
        expect(one.page.locator(".voice-bar")).to_be_hidden()
        expect(one.page.get_by_role("article").filter(has_text="Alice started a call that lasted")).to_have_count(1)
    expect(sign).to_have_count(0)

    # Declined in one tab, it rings in none; rung again, until the caller hangs up.
    head.get_by_role("button", name="Call", exact=True).click()
    rings(second).press("Escape")
    for page in (first, second):
        expect(rings(page)).to_have_count(0)
    expect(alice.page.get_by_role("status").filter(has_text="Nobody has answered").first).to_be_visible()
    alice.button("Ring again").click()
    for page in (first, second):
        expect(rings(page)).to_be_visible()
    alice.bar("Hang up").click()
    for page in (first, second):
        expect(rings(page)).to_have_count(0)
        expect(page.get_by_role("article").filter(has_text="You missed a call from Alice")).to_have_count(1)
    expect(alice.page.get_by_role("article").filter(has_text="Alice called, and nobody answered")).to_have_count(1)

    # An account that the callee has silenced rings nowhere; its call is shown all the same.
    token, caller = home.person("bob")["token"], home.person("alice")["id"]
    home.call("PATCH", "/v1/users/@me/settings", {"person_notifications": {caller: 2}}, token)
    head.get_by_role("button", name="Call", exact=True).click()
    expect(alice.page.get_by_role("status").filter(has_text="Calling Bob").first).to_be_visible()
    expect(sign).to_be_attached()
    expect(rings(second)).to_have_count(0)
    home.call("PATCH", "/v1/users/@me/settings", {"person_notifications": {}}, token)
    expect(rings(second)).to_be_visible()
    rings(second).get_by_role("button", name="Accept with video").click()
    alice.sees(alice.page.locator(".voice-tile").filter(has_text="Bob"))
    alice.bar("Hang up").click()
    expect(second.locator(".voice-bar")).to_be_hidden()

    # Whoever is blocked may not call, and is told so in the words of a conversation.
    home.call("PUT", f"/v1/users/@me/relationships/{caller}", {"type": 2}, token)
    head.get_by_role("button", name="Call", exact=True).click()
    expect(alice.page.locator(".voice-bar")).to_contain_text("You cannot call here.")
