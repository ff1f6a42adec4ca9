// Above the messages of a voice channel: the way in; for those who are in, cameras and screens.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";

/**
 * @param {import("./app.js").App} app
 * @param {string} channelId
 * @param {string | null} guildId
 */
export function makeVoiceHead(app, channelId, guildId) {
  const { voice } = app;
  const join = h("button", { type: "button", class: "button primary", click: enter }, icon("voice"), t("voice.join"));
  const offer = h("div", { class: "voice-offer" }, h("p", { class: "small muted" }, t("voice.join_words")), join);
  const silence = h("p", { class: "note silence small" }, t("talk.no_sound"));
  const element = h("div", { class: "voice-ground" });

  function enter() {
    app.open("voice", { place: { guildId, channelId } });
  }

  function draw() {
    const { phase, channelId: there } = voice.now;
    const isIn = there === channelId && phase !== "away" && phase !== "failed";
    const shown = !voice.isThere ? silence : isIn ? voice.stage : offer;
    if (element.firstElementChild === shown) return;
    const hadFocus = element.contains(document.activeElement);
    fill(element, shown);
    if (isIn) voice.wake();
    if (hadFocus) /** @type {HTMLElement | null} */ (shown.querySelector("button"))?.focus();
  }

  const unwatch = voice.watch((changed) => (changed.has("phase") || changed.has("channelId")) && draw());
  draw();
  return { element, stop: unwatch };
}
