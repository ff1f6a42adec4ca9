// Above the messages of a conversation while people call there: who is in the call and the way in; for those who are
// in, cameras and screens, and what they should know while they are alone.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { mayCall, peopleInCall } from "../../store/calls.js";
import { t } from "../../words/catalogue.js";
import { listOf } from "../../words/dates.js";
import { enterCall, nameOfPerson } from "../names/calls.js";

/**
 * @param {import("./app.js").App} app
 * @param {string} channelId
 */
export function makeCallHead(app, channelId) {
  const { voice, store } = app;
  const there = h("p", { class: "small" });
  const join = button("phone", t("call.join"), "button primary", () => enterCall(app, channelId));
  const video = button("camera", t("call.join_video"), "button", () => enterCall(app, channelId, { withCamera: true }));
  const offer = h("div", { class: "voice-offer" }, there, h("div", { class: "call-buttons" }, join, video));
  const words = h("p", { class: "small", role: "status" });
  const again = h("button", { type: "button", class: "button small-button" }, t("call.ring_again"));
  const waiting = h("div", { class: "call-waiting" }, words, again);
  const element = h("div", { class: "voice-ground" });

  again.addEventListener("click", () => {
    app.open("voice", { place: { guildId: null, channelId }, rings: true });
  });

  function draw() {
    const { phase, channelId: place, waiting: alone } = voice.now;
    const isIn = place === channelId && phase !== "away" && phase !== "failed";
    const people = peopleInCall(store.read, channelId);
    const isGoing = voice.isThere && people.length > 0 && mayCall(store.read, store.read.channels.get(channelId));
    there.textContent = t("call.there", { names: listOf(people.map((id) => nameOfPerson(app, id))) });
    if (words.textContent !== (alone ?? "")) words.textContent = alone ?? "";
    waiting.hidden = !alone;
    again.hidden = (store.read.calls.get(channelId)?.ringing ?? []).length > 0;
    const shown = isIn ? [waiting, voice.stage] : isGoing ? [offer] : [];
    if (element.firstElementChild === (shown[0] ?? null)) return;
    const hadFocus = element.contains(document.activeElement);
    fill(element, ...shown);
    if (isIn) voice.wake();
    if (!hadFocus) return;
    const next = element.querySelector("button:not([hidden] *, [hidden])") ?? document.getElementById("talk");
    /** @type {HTMLElement | null} */ (next)?.focus();
  }

  const unwatch = voice.watch((changed) => {
    if (changed.has("phase") || changed.has("channelId") || changed.has("waiting")) draw();
  });
  const unheard = store.watch([`voice:${channelId}`, "relationships"], draw);
  draw();
  return { element, stop: () => (unwatch(), unheard()) };
}

/** @param {string} sign @param {string} label @param {string} style @param {() => void} click */
function button(sign, label, style, click) {
  return h("button", { type: "button", class: style, click }, icon(sign), label);
}
