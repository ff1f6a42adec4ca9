// One of many channels and conversations: found by its name, chosen by a press.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { plainName } from "../../views/names/people.js";
import { scoreOf } from "../../views/names/matching.js";

const SHOWN_MAXIMUM = 30;

/**
 * @param {import("../../store/store.js").Store} store
 * @param {readonly import("../../store/shapes.js").Channel[]} all
 * @param {{search: string, where: string}} words
 */
export function makeChannelChoice(store, all, words) {
  const search = h("input", { class: "input", type: "search", id: "forward-search", autocomplete: "off" });
  const legend = h("legend", { class: "unseen" }, words.where);
  const list = h("fieldset", { class: "forward-list" }, legend);
  const field = h("div", { class: "field" }, h("label", { for: "forward-search" }, words.search), search);
  let chosen = "";

  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const scored = all
      .map((channel) => ({ channel, score: scoreOf(nameOfChannel(store.read, channel), wanted) }))
      .filter(({ score }) => score !== null);
    scored.sort((one, other) => Number(other.score) - Number(one.score));
    list.replaceChildren(legend, ...scored.slice(0, SHOWN_MAXIMUM).map(({ channel }) => row(channel)));
  }

  /** @param {import("../../store/shapes.js").Channel} channel */
  function row(channel) {
    const radio = /** @type {HTMLInputElement} */ (h("input", { type: "radio", name: "forward", value: channel.id }));
    radio.checked = channel.id === chosen;
    radio.required = true; // so the browser says what is missing
    radio.addEventListener("change", () => (chosen = channel.id));
    const guild = store.read.guilds.get(channel.guild_id ?? "");
    const where = guild ? plainName(guild.properties["name"] ?? "") : t("direct.name");
    const name = h("bdi", { class: "clip" }, `${channel.guild_id ? "#" : ""}${nameOfChannel(store.read, channel)}`);
    return h("label", { class: "check" }, radio, name, h("bdi", { class: "clip meta" }, where));
  }

  search.addEventListener("input", draw);
  draw();
  return { element: h("div", {}, field, list), chosen: () => chosen };
}
