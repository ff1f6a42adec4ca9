// The bar of somebody who is in voice, at the foot of the list of channels: where, how well it goes, and what can be
// done.

import { h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { t } from "../../words/catalogue.js";
import { makeControls } from "./controls.js";

/** @typedef {import("../../views/shell/voice.js").Phase} Phase */
/** @typedef {import("../../views/shell/voice.js").Quality} Quality */

/** @type {Readonly<Record<Phase, () => string>>} */
const PHASES = {
  away: () => "",
  joining: () => t("voice.joining"),
  live: () => t("voice.connected"),
  again: () => t("voice.again"),
  failed: () => t("voice.failed"),
};

/** @type {Readonly<Record<Quality, () => string>>} */
const QUALITIES = { good: () => t("voice.good"), fair: () => t("voice.fair"), poor: () => t("voice.poor") };

/**
 * @param {import("../../views/shell/app.js").App} app
 * @param {import("./session.js").Session} session
 */
export function makeBar(app, session) {
  const { voice, store } = app;
  const sign = h("span", { class: "voice-sign" }, icon("signal"));
  const state = h("p", { class: "voice-state clip", role: "status" });
  const where = h("a", { class: "voice-where clip meta", href: "" });
  const leave = iconButton("hang-up", t("voice.leave"), session.leave);
  leave.classList.add("danger");
  const words = h("p", { class: "small" });
  const act = h("button", { type: "button", class: "button small-button", click: press });
  const problem = h("div", { class: "voice-problem", role: "alert", hidden: "" }, words, act);
  const controls = makeControls(app, session);
  const head = h("div", { class: "voice-head" }, sign, h("div", { class: "voice-words" }, state, where), leave);
  const element = h(
    "section",
    { class: "voice-bar", "aria-label": t("voice.bar"), tabindex: "-1", "data-region": "", hidden: "" },
    head,
    problem,
    controls.element,
  );

  function press() {
    if (voice.now.phase === "failed") session.again();
    else session.resume();
  }

  where.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    app.go(new URL(where.href).pathname);
  });

  function draw() {
    const { phase, channelId, guildId, quality, roundTrip, problem: trouble } = voice.now;
    const hadFocus = element.contains(document.activeElement);
    element.hidden = phase === "away";
    element.dataset["phase"] = phase;
    if (phase === "away") {
      if (hadFocus) document.getElementById("talk")?.focus();
      return;
    }
    const channel = store.read.channels.get(channelId ?? "");
    const guild = store.read.guilds.get(guildId ?? "");
    const place = [channel && nameOfChannel(store.read, channel), guild?.properties["name"]].filter(Boolean);
    const said = voice.now.waiting ?? PHASES[phase]();
    if (state.textContent !== said) state.textContent = said;
    where.textContent = place.join(" · ");
    where.href = `/channels/${guildId ?? "@me"}/${channelId}`;
    sign.dataset["quality"] = quality ?? "";
    const health = quality === null ? "" : QUALITIES[quality]();
    sign.title = roundTrip === null ? health : t("voice.health", { words: health, n: roundTrip });
    if (words.textContent !== (trouble ?? "")) words.textContent = trouble ?? "";
    problem.hidden = trouble === null;
    act.textContent = t("voice.try_again");
    controls.element.hidden = phase === "failed";
    const away = guildId === null ? t("call.hang_up") : t("voice.leave");
    leave.title = leave.ariaLabel = phase === "failed" ? t("layers.close") : away;
    controls.draw();
  }

  return { element, draw };
}
