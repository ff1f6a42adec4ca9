// The conversations of the account, the one with the newest message first.

import { fill, h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { keyed } from "../../base/keyed.js";
import { spotOf } from "../../base/spot.js";
import { peopleInCall } from "../../store/calls.js";
import { orderedConversations } from "../../store/channels.js";
import { ALL } from "../../store/store.js";
import { newsOf } from "../../store/unread.js";
import { incomingRequests } from "../../store/users.js";
import { t } from "../../words/catalogue.js";
import { draftSign } from "../names/drafts.js";
import { nameOfChannel, othersOf } from "../names/channels.js";
import { avatarAddress } from "../names/people.js";
import { presenceDot } from "../names/presence.js";

/** @typedef {import("../shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Channel} Channel */

const GROUP = 3;

/** @param {App} app */
export function makeDirectList(app) {
  const { store } = app;
  const rows = h("ul", { class: "channels conversations" });
  const friends = h(
    "a",
    { class: "channel-link", href: "/channels/@me/friends" },
    icon("friends"),
    h("span", { class: "clip" }, t("direct.friends")),
  );
  const begin = iconButton("add", t("conversation.begin"), () => app.open("conversation"));
  const mentions = act("at", t("kept.mentions"), () => app.open("kept", { which: "mentions", anchor: mentions }));
  const saved = act("bookmark", t("kept.saved"), () => app.open("kept", { which: "saved", anchor: saved }));
  const reminders = act("clock", t("reminders.title"), () => app.open("reminders"));
  const empty = h("p", { class: "side-empty small muted" }, t("direct.empty"));
  const element = h("nav", { class: "side-list", tabindex: "-1", "data-region": "", "aria-label": t("direct.name") });
  element.append(
    h("div", { class: "side-head" }, h("h2", { class: "clip" }, t("direct.name")), begin),
    friends,
    mentions,
    saved,
    reminders,
    empty,
    rows,
  );

  /** @param {string} sign @param {string} label @param {() => unknown} click @returns {HTMLElement} */
  function act(sign, label, click) {
    const words = h("span", { class: "clip" }, label);
    return h("button", { type: "button", class: "channel-link", click }, icon(sign), words);
  }

  function draw() {
    const all = orderedConversations(store.read);
    empty.hidden = all.length > 0;
    const isHere = app.place().channelId === null;
    if (isHere) friends.setAttribute("aria-current", "page");
    else friends.removeAttribute("aria-current");
    const requests = incomingRequests(store.read);
    friends.querySelector(".badge")?.remove();
    if (requests > 0) {
      const words = t("direct.requests", { n: requests });
      friends.append(h("span", { class: "badge", role: "img", "aria-label": words }, `${requests}`));
    }
    reminders.querySelector(".badge")?.remove();
    const due = store.read.reminded.size;
    reminders.ariaLabel = due > 0 ? t("reminders.count", { n: due }) : t("reminders.title");
    if (due > 0) reminders.append(h("span", { class: "badge", "aria-hidden": "true" }, `${due}`));
    keyed(rows, all, ({ id }) => id, make, update);
  }

  /** @param {Channel} channel */
  function make(channel) {
    const item = h("li", { class: "channel" });
    update(item, channel);
    return item;
  }

  /**
   * @param {Element} item
   * @param {Channel} channel
   */
  function update(item, channel) {
    const here = app.place().channelId === channel.id;
    const news = newsOf(store.read, channel, app.now());
    const [other] = othersOf(store.read, channel);
    const status = other ? store.read.presences.get(other.id)?.status : undefined;
    const name = nameOfChannel(store.read, channel);
    const hasDraft = !here && store.read.drafts.has(channel.id);
    const hasCall = peopleInCall(store.read, channel.id).length > 0;
    const about = [name, other?.avatar, status, here, news, channel["icon"], channel.recipients?.length, hasDraft];
    const face = JSON.stringify([...about, hasCall]);
    const element = /** @type {HTMLElement} */ (item);
    if (element.dataset["face"] === face) return;
    element.dataset["face"] = face;
    const hadFocus = element.contains(document.activeElement);
    const link = h("a", { class: "channel-link", href: `/channels/@me/${channel.id}` });
    link.dataset["channel"] = channel.id;
    if (here) link.setAttribute("aria-current", "page");
    link.classList.toggle("unread", news.isUnread);
    link.append(faceOf(channel, other, status), h("span", { class: "clip" }, name));
    if (hasCall) link.append(callSign());
    if (hasDraft) link.append(draftSign());
    if (news.mentions > 0) {
      link.append(
        h("span", { class: "badge", "aria-label": t("rail.mentions", { n: news.mentions }) }, `${news.mentions}`),
      );
    }
    fill(element, link);
    if (hadFocus) link.focus();
  }

  /**
   * @param {Channel} channel
   * @param {import("../names/people.js").Person | undefined} other
   * @param {string | undefined} status
   */
  function faceOf(channel, other, status) {
    const holder = h("span", { class: "face-holder" });
    const picture = h("img", { class: "avatar small-avatar", alt: "", width: "32", height: "32", loading: "lazy" });
    if (channel.type === GROUP && !channel["icon"])
      holder.append(h("span", { class: "avatar small-avatar group-face" }, icon("friends")));
    else holder.append(picture);
    const isGroup = channel.type === GROUP;
    picture.src = isGroup
      ? `/media/icons/${channel.id}/${channel["icon"]}.webp?size=80`
      : avatarAddress(other ?? channel, 80);
    if (channel.type === 1) holder.append(presenceDot(status ?? "offline"));
    return holder;
  }

  function callSign() {
    const words = t("call.going_on");
    return h("span", { class: "voice-sign", title: words }, icon("phone"), h("span", { class: "unseen" }, words));
  }

  element.addEventListener("click", (event) => {
    const link = /** @type {HTMLAnchorElement | null} */ (
      /** @type {Element} */ (event.target).closest("a.channel-link")
    );
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    app.go(new URL(link.href).pathname);
    draw();
  });

  element.addEventListener("contextmenu", (event) => {
    const link = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-channel]"));
    const channel = store.read.channels.get(link?.dataset["channel"] ?? "");
    if (!link || !channel) return;
    event.preventDefault();
    app.open("channel_menu", { channelId: channel.id, anchor: spotOf(event, link) });
  });

  /** @param {string} topic */
  const isMine = (topic) => {
    const [kind, id = ""] = topic.split(":");
    if (kind === "read" || kind === "channel") return !store.read.channels.get(id)?.guild_id;
    if (kind === "voice") return store.read.channels.has(id);
    return kind === "user" || topic === "channels:@me" || topic === "relationships";
  };
  const unwatch = store.watch([ALL], (topics) => [...topics].some(isMine) && draw());
  window.addEventListener("popstate", draw);
  draw();
  return { element, draw, stop: () => (unwatch(), window.removeEventListener("popstate", draw)) };
}
