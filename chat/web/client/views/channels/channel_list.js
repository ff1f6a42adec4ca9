// The channels of a guild: categories that fold, what is new, who is in voice, threads below their channel.

import { pathWithin } from "../../base/address.js";
import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { keyed } from "../../base/keyed.js";
import { spotOf } from "../../base/spot.js";
import { CATEGORY, orderedChannels } from "../../store/channels.js";
import { BITS, guildPermissions, may } from "../../store/permissions.js";
import { ALL } from "../../store/store.js";
import { isChannelMuted, newsOf } from "../../store/unread.js";
import { compareIds } from "../../store/shapes.js";
import { t } from "../../words/catalogue.js";
import { guildEntries } from "../dialogs/guild_menu.js";
import { newChannel } from "../dialogs/new_channel.js";
import { draftSign } from "../names/drafts.js";
import { nameOfChannel, signOf } from "../names/channels.js";
import { avatarAddress, nameOf, plainName } from "../names/people.js";
import { channelEntries } from "./channel_menu.js";
import { makeNewsChips } from "./news_chips.js";
import { makeChannelOrder } from "./order.js";
import { partOf, voiceSigns } from "./voice_signs.js";

/** @typedef {import("../shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Channel} Channel */
/** @typedef {{channel: Channel, depth: 0 | 1, key: string}} Row */
/** @typedef {import("./voice_signs.js").Part} Part */

const VOICE = 2;
const LINK = 998;

/**
 * @param {App} app
 * @param {string} guildId
 */
export function makeChannelList(app, guildId) {
  const { store, acts } = app;
  const title = h("span", { class: "clip" });
  const head = h(
    "button",
    { type: "button", class: "side-head", "aria-haspopup": "menu", click: showMenu },
    h("h2", { class: "clip" }, title),
    icon("more"),
  );
  const rows = h("ul", { class: "channels" });
  const element = h("nav", { class: "side-list", tabindex: "-1", "data-region": "", "aria-label": t("channels.name") });
  const chips = makeNewsChips(element, head, rows);
  const order = makeChannelOrder(rows, { app, guildId, draw });
  const hasPointer = matchMedia("(pointer: fine)").matches;
  element.append(head, chips.above, rows, chips.below);

  /** @type {Element | null} the row of the channel that is open */
  let toReveal = null;
  /** @type {string | null} the channel whose row was brought into view */
  let revealed = null;

  function showMenu() {
    app.layers.menu(head, guildEntries(app, guildId), title.textContent ?? "");
  }

  /** @param {Channel} category */
  function isFolded(category) {
    return Boolean(store.read.guildSettings.get(guildId)?.["channel_overrides"]?.[category.id]?.collapsed);
  }

  /** What stands in the list: a folded category shows only what is new, and where the person is. */
  function listed() {
    const here = app.place().channelId;
    /** @type {Row[]} */
    const shown = [];
    const threads = threadsByParent();
    let folded = false;
    for (const channel of orderedChannels(store.read, guildId)) {
      const isHead = channel.type === CATEGORY;
      if (isHead || !channel.parent_id) folded = isHead && isFolded(channel);
      const news = newsOf(store.read, channel, app.now());
      const isWanted = isHead || !folded || channel.id === here || news.isUnread || news.mentions > 0;
      if (isWanted) shown.push({ channel, depth: 0, key: channel.id });
      for (const thread of threads.get(channel.id) ?? []) {
        if (isWanted || thread.id === here) shown.push({ channel: thread, depth: 1, key: thread.id });
      }
    }
    return shown;
  }

  /** Threads that the person is in, the newest first. */
  function threadsByParent() {
    /** @type {Map<string, Channel[]>} */
    const threads = new Map();
    for (const id of store.read.joined) {
      const thread = store.read.channels.get(id);
      if (!thread || thread.guild_id !== guildId || thread["thread_metadata"]?.archived) continue;
      const all = threads.get(thread.parent_id ?? "") ?? [];
      threads.set(thread.parent_id ?? "", [...all, thread]);
    }
    for (const all of threads.values()) all.sort((one, other) => compareIds(other.id, one.id));
    return threads;
  }

  function draw() {
    const guild = store.read.guilds.get(guildId);
    if (!guild || order.isHolding()) return;
    title.textContent = guild.unavailable ? t("rail.unavailable") : plainName(guild.properties["name"] ?? "");
    keyed(rows, listed(), ({ key }) => key, make, update);
    chips.draw();
    const { channelId } = app.place();
    if (channelId === revealed || !toReveal?.checkVisibility()) return;
    revealed = channelId;
    toReveal.scrollIntoView({ block: "nearest" });
  }

  /** @param {Row} row */
  function make(row) {
    const item = h("li", { class: row.channel.type === CATEGORY ? "category" : "channel" });
    item.classList.toggle("thread", row.depth === 1);
    item.dataset["key"] = row.key;
    update(item, row);
    return item;
  }

  /**
   * @param {Element} item
   * @param {Row} row
   */
  function update(item, { channel }) {
    const here = app.place().channelId === channel.id;
    const news = newsOf(store.read, channel, app.now());
    const muted = isChannelMuted(store.read, channel, app.now());
    const people = channel.type === VOICE ? inVoice(channel.id) : [];
    const folded = channel.type === CATEGORY && isFolded(channel);
    const hasDraft = !here && store.read.drafts.has(channel.id);
    const face = JSON.stringify([channel.name, channel.type, here, news, muted, folded, people, mayManage(), hasDraft]);
    const element = /** @type {HTMLElement} */ (item);
    if (element.dataset["face"] === face) return;
    element.dataset["face"] = face;
    const isMovable = mayManage() && !channel["thread_metadata"];
    if (isMovable) element.dataset["order"] = "";
    else delete element.dataset["order"];
    // A finger that rests asks for the menu.
    element.draggable = isMovable && hasPointer;
    const hadFocus = element.contains(document.activeElement);
    if (channel.type === CATEGORY) fill(element, ...categoryParts(channel, folded));
    else fill(element, channelLink(channel, { here, news, muted, hasDraft }), ...voiceParts(people));
    if (hadFocus) /** @type {HTMLElement | null} */ (element.querySelector("a, button"))?.focus();
    if (here) toReveal = element;
  }

  function mayManage() {
    const guild = store.read.guilds.get(guildId);
    return guild !== undefined && (guildPermissions(guild, store.read.session.me) & BITS.MANAGE_CHANNELS) !== 0n;
  }

  /**
   * @param {Channel} category
   * @param {boolean} folded
   */
  function categoryParts(category, folded) {
    const name = nameOfChannel(store.read, category);
    const press = () => void acts.guilds.collapse(guildId, category.id, !folded).catch(app.report);
    const fold = h("button", { type: "button", class: "fold clip", "aria-expanded": String(!folded), click: press });
    fold.append(h("span", { class: "clip" }, name));
    fold.dataset["channel"] = category.id;
    if (!may(store.read, category, BITS.MANAGE_CHANNELS)) return [fold];
    const label = t("channels.add_in", { name });
    const add = () => newChannel(app, guildId, category.id);
    return [
      fold,
      h(
        "button",
        { type: "button", class: "icon-button small-icon", "aria-label": label, title: label, click: add },
        icon("add"),
      ),
    ];
  }

  /**
   * @param {Channel} channel
   * @param {{here: boolean, news: {isUnread: boolean, mentions: number}, muted: boolean, hasDraft: boolean}} shown
   */
  function channelLink(channel, { here, news, muted, hasDraft }) {
    const name = nameOfChannel(store.read, channel);
    const address = channel.type === LINK ? (channel.url ?? null) : null;
    const inside = address === null ? `/channels/${guildId}/${channel.id}` : pathWithin(address);
    const outside = inside === null ? address : null;
    const link = h("a", { class: "channel-link", href: inside ?? address ?? "", draggable: String(!mayManage()) });
    if (outside !== null)
      for (const [key, value] of [
        ["target", "_blank"],
        ["rel", "noopener noreferrer"],
      ])
        link.setAttribute(key ?? "", value ?? "");
    link.dataset["channel"] = channel.id;
    if (address !== null && inside !== null) link.dataset["inside"] = "";
    if (here) link.setAttribute("aria-current", "page");
    link.classList.toggle("unread", news.isUnread);
    link.classList.toggle("muted-channel", muted);
    link.append(icon(signOf(channel)), h("span", { class: "clip" }, name));
    if (hasDraft) link.append(draftSign());
    if (news.mentions > 0) {
      link.append(
        h("span", { class: "badge", "aria-label": t("rail.mentions", { n: news.mentions }) }, `${news.mentions}`),
      );
    } else if (news.isUnread) link.append(h("span", { class: "unseen" }, t("rail.unread")));
    return link;
  }

  /** Who is in a voice channel, each once, with what can be seen of their part. @param {string} channelId */
  function inVoice(channelId) {
    const states = [...(store.read.voice.get(channelId)?.values() ?? [])];
    const people = new Map(states.map((one) => [one["user_id"], partOf(states, one["user_id"])]));
    return [...people].sort(([one], [other]) => compareIds(one, other));
  }

  /** @param {[string, Part][]} people */
  function voiceParts(people) {
    if (people.length === 0) return [];
    const list = h("ul", { class: "speakers", "aria-label": t("channels.in_voice") });
    for (const [id, part] of people) {
      const user = store.read.users.get(id) ?? { id, avatar: null };
      const face = h("img", { class: "avatar tiny", alt: "", width: "24", height: "24" });
      face.src = avatarAddress(user, 80);
      const name = nameOf({ store, guildId }, { id, username: "" });
      const person = h("button", { type: "button", class: "speaker", "aria-haspopup": "dialog" });
      person.append(face, h("bdi", { class: "clip small" }, name), ...voiceSigns(part));
      person.addEventListener("click", () => app.open("voice_person", { userId: id, guildId, anchor: person }));
      list.append(h("li", { "data-user": id }, person));
    }
    listen(list);
    return [list];
  }

  /** Rings around those who speak, where this browser hears them. @param {ParentNode} [ground] */
  function listen(ground = rows) {
    for (const item of ground.querySelectorAll("[data-user]")) {
      const id = /** @type {HTMLElement} */ (item).dataset["user"] ?? "";
      item.classList.toggle("speaking", app.voice.now.speaking.has(id));
    }
  }

  element.addEventListener("click", (event) => {
    const link = /** @type {HTMLAnchorElement | null} */ (
      /** @type {Element} */ (event.target).closest("a.channel-link")
    );
    if (!link || link.target || "inside" in link.dataset || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const channel = store.read.channels.get(link.dataset["channel"] ?? "");
    if (channel?.type === VOICE && app.voice.isThere) app.open("voice", { place: { guildId, channelId: channel.id } });
    app.go(new URL(link.href).pathname);
    draw();
  });
  element.addEventListener("contextmenu", (event) => {
    const link = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-channel]"));
    const channel = store.read.channels.get(link?.dataset["channel"] ?? "");
    if (!link || !channel) return;
    event.preventDefault();
    const spot = spotOf(event, link);
    app.layers.menu(spot, channelEntries(app, channel), nameOfChannel(store.read, channel));
  });

  const here = (/** @type {string} */ topic) => {
    const [kind, id = ""] = topic.split(":");
    if (kind === "read" || kind === "channel") return store.read.channels.get(id)?.guild_id === guildId;
    return id === guildId || kind === "me";
  };
  const unwatch = store.watch([ALL], (topics) => [...topics].some(here) && draw());
  const unlisten = app.voice.watch((changed) => changed.has("speaking") && listen());
  window.addEventListener("popstate", draw);
  draw();
  const stop = () => (unwatch(), unlisten(), chips.stop(), window.removeEventListener("popstate", draw));
  return { element, draw, stop };
}
