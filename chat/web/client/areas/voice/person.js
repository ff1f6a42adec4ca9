// Somebody in voice: how loud they are here, and the way to their profile.

import { keepDevices, keptDevices, VOLUME } from "../../base/devices.js";
import { h } from "../../base/dom.js";
import { nameOf } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {{app: App, userId: string, guildId: string | null, anchor: Element}} parts */
export function open({ app, userId, guildId, anchor }) {
  const { store, layers } = app;
  const profile = () => app.open("profile", { userId, guildId, anchor });
  if (userId === store.read.session.me) return profile();
  const name = nameOf({ store, guildId }, { id: userId, username: "" });
  const input = h("input", { type: "range", class: "range", min: "0", max: VOLUME.most, step: "5", id: "volume" });
  input.value = String(keptDevices().volumes[userId] ?? VOLUME.usual);
  const words = h("output", { class: "small muted", for: "volume" });
  const say = () => {
    words.textContent = t("appearance.percent", { n: Number(input.value) });
    input.setAttribute("aria-valuetext", words.textContent);
  };
  input.addEventListener("input", () => {
    say();
    const { [userId]: _, ...others } = keptDevices().volumes;
    const volume = Number(input.value);
    keepDevices({ volumes: volume === VOLUME.usual ? others : { ...others, [userId]: volume } });
  });
  say();
  input.dataset["first"] = "";
  const label = h("label", { for: "volume", class: "small" }, t("voice.volume"));
  const more = h("button", { type: "button", class: "button", click: () => (close(), profile()) }, t("profile.name"));
  const heading = h("h2", { class: "clip" }, h("bdi", {}, name));
  const row = h("div", { class: "range-row" }, input, words);
  const content = h("div", { class: "voice-person" }, heading, label, row, more);
  const close = layers.popover(anchor, content, { label: name, side: "beside" });
  return undefined;
}
