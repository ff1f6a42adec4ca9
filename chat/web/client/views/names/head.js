// The head of an open channel: what it is called, what it is about, and what can be opened beside it.

import { fill, h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { nameOfChannel, othersOf, signOf } from "./channels.js";
import { avatarAddress, plainName } from "./people.js";

/** @typedef {import("../shell/app.js").App} App */

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.channelId
 * @param {string | null} parts.guildId
 * @param {() => void} parts.back
 * @param {() => void} parts.toggleMembers
 */
export function makeHead({ app, channelId, guildId, back, toggleMembers }) {
  const { store } = app;
  const heading = h("h1", { class: "clip", tabindex: "-1" });
  const topic = h("button", { type: "button", class: "topic clip small", click: showTopic });
  const sign = h("span", { class: "head-sign" });
  const returns = iconButton("back", t("head.back"), back, { forward: true });
  returns.classList.add("narrow-only");
  const members = iconButton("member", t("head.members"), toggleMembers);
  members.dataset["toggle"] = "members";
  const pins = iconButton("pin", t("head.pins"), () => app.open("pins", { channelId, guildId, anchor: pins }));
  const search = iconButton("search", t("head.search"), () => app.open("search", { channelId, guildId }));
  const threads = iconButton("thread", t("head.threads"), () =>
    app.open("threads", { channelId, guildId, anchor: threads }),
  );
  const element = h("header", { class: "talk-head" }, returns, sign, heading, topic, h("span", { class: "head-room" }));
  const isPlain = [0, 5].includes(store.read.channels.get(channelId)?.type ?? -1);
  const more = iconButton("more", t("head.more"), () => app.open("channel_menu", { channelId, anchor: more }));
  const hasMore = guildId === null || !!store.read.channels.get(channelId)?.["thread_metadata"];
  element.append(...(isPlain ? [threads] : []), pins, search, members, ...(hasMore ? [more] : []));

  function showTopic() {
    const channel = store.read.channels.get(channelId);
    const words = h("p", { class: "topic-whole" }, plainTopic(channel?.["topic"] ?? ""));
    app.layers.dialog({ title: heading.textContent ?? "", content: words });
  }

  function draw() {
    const channel = store.read.channels.get(channelId);
    if (!channel) return;
    fill(heading, nameOfChannel(store.read, channel));
    const words = plainTopic(channel["topic"] ?? "");
    topic.hidden = words === "";
    topic.textContent = words;
    const isPrivate = !channel.guild_id;
    fill(sign, isPrivate ? faceOf(channel) : icon(signOf(channel)));
    members.hidden = channel.type === 1 || channel.type === 999;
  }

  /** @param {import("../../store/shapes.js").Channel} channel */
  function faceOf(channel) {
    const [other] = othersOf(store.read, channel);
    if (!other || channel.type === 3) return icon("friends");
    const face = h("img", { class: "avatar tiny", alt: "", width: "24", height: "24" });
    face.src = avatarAddress(other, 80);
    return face;
  }

  draw();
  return { element, draw };
}

/** @param {string} topic */
function plainTopic(topic) {
  return topic === "" ? "" : plainName(topic);
}
