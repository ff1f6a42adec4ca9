// Before a channel for adults: one question for each person and community. Nothing of the channel is loaded before the
// answer, which this browser keeps.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { nameOfChannel } from "../names/channels.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("../../store/shapes.js").Channel} Channel */

/**
 * By its own mark, else by that of its guild; a thread as the channel above it.
 * @param {App} app
 * @param {Channel | undefined} channel
 * @returns {boolean}
 */
export function isForAdults({ store }, channel) {
  if (!channel?.guild_id) return false;
  const place = channel["thread_metadata"] ? store.read.channels.get(channel.parent_id ?? "") : channel;
  const own = place?.["nsfw_override"];
  if (typeof own === "boolean") return own;
  return Boolean(place?.["nsfw"]) || Boolean(store.read.guilds.get(channel.guild_id)?.properties["nsfw"]);
}

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.channelId
 * @param {string} parts.guildId
 * @param {() => void} parts.back To the list of channels, where one pane is shown.
 * @param {() => void} parts.pass
 * @returns {import("./talk.js").Talk}
 */
export function makeGate({ app, channelId, guildId, back, pass }) {
  const { store, acts } = app;
  const element = h("main", { id: "talk", class: "talk empty gate", tabindex: "-1", "data-region": "" });
  let isOver = false;

  async function enter() {
    await acts.guilds.enterForAdults(guildId);
    if (!isOver) pass();
  }

  function ask() {
    const channel = store.read.channels.get(channelId);
    const name = channel ? nameOfChannel(store.read, channel) : "";
    const isMinor = store.read.users.get(store.read.session.me)?.["nsfw_allowed"] === false;
    const yes = h("button", { type: "button", class: "button primary", click: () => void enter() }, t("gate.enter"));
    const no = h("button", { type: "button", class: "button", click: leave }, t("gate.leave"));
    fill(
      element,
      h("span", { class: "beginning-sign" }, icon("warning")),
      h("h1", {}, h("bdi", {}, name)),
      h("p", { class: "muted" }, isMinor ? t("gate.minor") : t("gate.words")),
      h("div", { class: "buttons" }, no, ...(isMinor ? [] : [yes])),
    );
    if (element.isConnected && !matchMedia("(pointer: coarse)").matches) no.focus();
  }

  function leave() {
    if (matchMedia("(min-width: 40rem)").matches) history.back();
    else back();
  }

  void acts.guilds.isForAdultsEntered(guildId).then((entered) => {
    if (isOver) return;
    if (entered) pass();
    else ask();
  });

  return {
    element,
    channelId,
    open: () => {},
    focus: () => element.focus(),
    leaveUnread: () => {},
    stop() {
      isOver = true;
    },
  };
}
