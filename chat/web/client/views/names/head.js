// The head of an open channel: what it is called, what it is about, and what can be opened beside it.

import { fill, h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { mayCall } from "../../store/calls.js";
import { t } from "../../words/catalogue.js";
import { daysKept } from "./ages.js";
import { enterCall } from "./calls.js";
import { nameOfChannel, othersOf, signOf } from "./channels.js";
import { avatarAddress, plainName } from "./people.js";

/** @typedef {import("../shell/app.js").App} App */

const ANNOUNCEMENTS = 5;

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.channelId
 * @param {string | null} parts.guildId
 * @param {() => void} parts.back
 * @param {() => void} parts.toggleMembers
 * @param {boolean} [parts.isBeside] A thread beside its channel: `back` closes it.
 */
export function makeHead({ app, channelId, guildId, back, toggleMembers, isBeside = false }) {
  const { store } = app;
  const heading = h(isBeside ? "h2" : "h1", { class: "talk-name clip", tabindex: "-1" });
  const topic = h("button", { type: "button", class: "topic clip small", click: showTopic });
  const sign = h("span", { class: "head-sign" });
  const kept = h("span", { class: "head-sign head-kept", role: "img" });
  kept.append(icon("clock"));
  const returns = iconButton("back", t("head.back"), back);
  returns.classList.add("narrow-only");
  const members = iconButton("member", t("head.members"), toggleMembers);
  members.dataset["toggle"] = "members";
  const pins = iconButton("pin", t("head.pins"), () => app.open("pins", { channelId, guildId, anchor: pins }));
  const search = iconButton("search", t("head.search"), () => app.open("search", { channelId, guildId }));
  const threads = iconButton("thread", t("head.threads"), () =>
    app.open("threads", { channelId, guildId, anchor: threads }),
  );
  const call = iconButton("phone", t("call.start"), () => enterCall(app, channelId));
  const video = iconButton("camera", t("call.video"), () => enterCall(app, channelId, { withCamera: true }));
  call.classList.add("call-button");
  video.classList.add("call-button");
  const above = store.read.channels.get(store.read.channels.get(channelId)?.parent_id ?? "");
  const isThread = !!store.read.channels.get(channelId)?.["thread_metadata"];
  const crumb = isThread && !isBeside && above ? [crumbTo(above), icon("chevron-forward")] : [];
  const start = isBeside ? [sign] : [returns, ...(crumb.length > 0 ? crumb : [sign])];
  const room = h("span", { class: "head-room" });
  const element = h("header", { class: "talk-head" }, ...start, heading, kept, topic, room);
  const isPlain = [0, ANNOUNCEMENTS].includes(store.read.channels.get(channelId)?.type ?? -1);
  const more = iconButton("more", t("head.more"), () => app.open("channel_menu", { channelId, anchor: more }));
  const opened = store.read.channels.get(channelId);
  const hasMore = guildId === null || opened?.type === ANNOUNCEMENTS || !!opened?.["thread_metadata"];
  const closing = isBeside ? [iconButton("close", t("head.close_thread"), back)] : [search, members];
  const first = guildId === null ? [call, video] : isPlain ? [threads] : [];
  element.append(...first, pins, ...(hasMore ? [more] : []), ...closing);

  /** The way from a thread to its channel. @param {import("../../store/shapes.js").Channel} channel */
  function crumbTo(channel) {
    const path = `/channels/${channel.guild_id}/${channel.id}`;
    const name = nameOfChannel(store.read, channel);
    const link = h("a", { class: "head-crumb", href: path, "aria-label": t("head.to_channel", { name }) });
    link.append(icon(signOf(channel)), h("bdi", { class: "clip" }, name));
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      app.go(path);
    });
    return link;
  }

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
    call.hidden = video.hidden = !app.voice.isThere || !mayCall(store.read, channel);
    const days = daysKept(store.read, channel);
    kept.hidden = days === 0;
    kept.title = t("talk.kept", { n: days });
    kept.setAttribute("aria-label", kept.title);
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
