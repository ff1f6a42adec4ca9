// A copy of a message for another channel or conversation.

import { h } from "../../base/dom.js";
import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { plainName } from "../../views/names/people.js";
import { scoreOf } from "../../views/names/matching.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const WRITTEN = new Set([0, 1, 2, 3, 5, 10, 11, 12, 999]);
const SHOWN_MAXIMUM = 30;

/** @param {{app: App, message: any}} parts */
export function open({ app, message }) {
  const { store, acts, layers } = app;
  const all = [...store.read.channels.values()].filter(
    (channel) => WRITTEN.has(channel.type) && (!channel.guild_id || may(store.read, channel, BITS.SEND_MESSAGES)),
  );
  const search = h("input", { class: "input", type: "search", id: "forward-search", autocomplete: "off" });
  const list = h("fieldset", { class: "forward-list" }, h("legend", { class: "unseen" }, t("forward.where")));
  const field = h("div", { class: "field" }, h("label", { for: "forward-search" }, t("forward.search")), search);
  let chosen = "";

  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const scored = all
      .map((channel) => ({ channel, score: scoreOf(nameOfChannel(store.read, channel), wanted) }))
      .filter(({ score }) => score !== null);
    scored.sort((one, other) => Number(other.score) - Number(one.score));
    const rows = scored.slice(0, SHOWN_MAXIMUM).map(({ channel }) => row(channel));
    list.replaceChildren(...(list.firstElementChild ? [list.firstElementChild] : []), ...rows);
  }

  /** @param {import("../../store/shapes.js").Channel} channel */
  function row(channel) {
    const radio = /** @type {HTMLInputElement} */ (h("input", { type: "radio", name: "forward", value: channel.id }));
    radio.checked = channel.id === chosen;
    radio.addEventListener("change", () => (chosen = channel.id));
    const guild = store.read.guilds.get(channel.guild_id ?? "");
    const where = guild ? plainName(guild.properties["name"] ?? "") : t("direct.name");
    const name = h("bdi", { class: "clip" }, `${channel.guild_id ? "#" : ""}${nameOfChannel(store.read, channel)}`);
    return h("label", { class: "check" }, radio, name, h("bdi", { class: "clip meta" }, where));
  }

  search.addEventListener("input", draw);
  draw();
  const run = async () => {
    if (chosen === "") return false;
    await acts.messages.forward(chosen, message);
    layers.toast(t("forward.done"));
    return true;
  };
  layers.dialog({
    title: t("forward.title"),
    content: h("div", {}, field, list),
    actions: [{ label: t("forward.send"), run }],
  });
}
