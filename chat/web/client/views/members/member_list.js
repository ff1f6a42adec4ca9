// Who sees a channel, by roles and by who is there; of ten thousand only those in sight are fetched and mounted. One
// tab stop; arrows go from person to person.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { makeWindowList } from "../../base/window_list.js";
import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { number } from "../../words/dates.js";
import { avatarAddress, plainName, roleColour } from "../names/people.js";
import { presenceDot, presenceWords } from "../names/presence.js";
import { customStatus } from "../names/status.js";
import { blocksOf, lengthOf, recipientList, rowOf } from "./rows.js";

/** @typedef {import("../shell/app.js").App} App */
/** @typedef {import("./rows.js").Row} Row */
/** @typedef {Extract<Row, {userId: string}>} Person */

const PATIENCE_MS = 120;
/** Rows that stand for the list until it has come. */
const WAITING = 12;
const THREADS = new Set([10, 11, 12]);

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.channelId
 * @param {string | null} parts.guildId
 */
export function makeMemberList({ app, channelId, guildId }) {
  const { store, acts } = app;
  const channel = store.read.channels.get(channelId);
  const listId = (THREADS.has(channel?.type ?? 0) && channel?.parent_id) || channelId;
  const rows = h("ul", { class: "member-rows", role: "list" });
  const hidden = h("p", { class: "members-hidden small muted", hidden: "" }, t("members.hidden"));
  const scroller = h("div", { class: "member-scroll" }, hidden, rows);
  const element = h(
    "aside",
    { class: "members", tabindex: "-1", "data-region": "", "aria-label": t("members.name") },
    h("h2", { class: "unseen" }, t("members.name")),
    scroller,
  );
  const list = makeWindowList({ scroller, ground: rows, make: () => h("li", { class: "member-row" }), draw, looked });
  /** @type {WeakMap<HTMLElement, string>} what a row shows */
  const faces = new WeakMap();
  let known = current();
  /** the one row that the tab key comes to */
  let tabStop = -1;
  /** the row that the focus is on its way to while it is fetched */
  let awaited = -1;
  let asked = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function current() {
    return guildId === null ? recipientList(store.read, channelId) : store.read.lists.get(`${guildId}:${listId}`);
  }

  /**
   * @param {HTMLElement} item
   * @param {number} index
   */
  function draw(item, index) {
    const row = rowOf(known, index);
    const face = JSON.stringify([row, row && "group" in row ? groupName(row.group) : colourOf(row)]);
    if (faces.get(item) === face) return tab(item, index);
    faces.set(item, face);
    const hadFocus = item.contains(document.activeElement);
    item.classList.toggle("heading", row !== null && "group" in row);
    if (row === null) fill(item, h("span", { class: "member-wait", "aria-hidden": "true" }));
    else if ("group" in row) fill(item, heading(row));
    else fill(item, person(row));
    tab(item, index);
    if (hadFocus || index === awaited) focus(item, index);
    return undefined;
  }

  /**
   * The list has one tab stop.
   * @param {HTMLElement} item
   * @param {number} index
   */
  function tab(item, index) {
    const button = item.querySelector("button");
    if (!button) return;
    if (tabStop === -1) tabStop = index;
    button.tabIndex = index === tabStop ? 0 : -1;
  }

  /** @param {{group: string, count: number}} row */
  function heading({ group, count }) {
    return h("h3", { class: "meta clip" }, h("bdi", {}, groupName(group)), ` ${number(count)}`);
  }

  /** @param {string} group */
  function groupName(group) {
    if (group === "online" || group === "offline") return presenceWords(group);
    return plainName((guildId && store.read.guilds.get(guildId)?.roles.get(group)?.name) || "");
  }

  /** @param {Row | null} row */
  function colourOf(row) {
    return row && !("group" in row) && guildId !== null ? roleColour(store.read.guilds.get(guildId), row.roles) : null;
  }

  /** @param {Person} row */
  function person(row) {
    const { user, nick, presence } = row;
    const status = presence?.status ?? "offline";
    const face = h("img", { class: "avatar small-avatar", alt: "", width: "32", height: "32", loading: "lazy" });
    face.src = avatarAddress(user, 80);
    const name = h("bdi", { class: "clip" }, plainName(nick || user.global_name || user.username));
    const colour = colourOf(row);
    if (colour !== null) {
      name.dataset["role"] = "";
      name.style.setProperty("--role", colour);
    }
    const first = h("span", { class: "member-name" }, name);
    if (user.bot) first.append(h("span", { class: "tag" }, t("message.program")));
    const isOwner = guildId !== null && store.read.guilds.get(guildId)?.properties["owner_id"] === user.id;
    if (isOwner) {
      const crown = h("span", { class: "member-crown", role: "img", title: t("members.owner") }, icon("crown"));
      crown.setAttribute("aria-label", t("members.owner"));
      first.append(crown);
    }
    const doing = customStatus(presence?.custom_status ?? null);
    const button = h("button", { type: "button", class: "member" });
    button.dataset["user"] = user.id;
    button.classList.toggle("away", status === "offline");
    const words = h("span", { class: "member-words" }, first);
    if (doing.length > 0) words.append(h("span", { class: "meta clip" }, ...doing));
    button.append(h("span", { class: "face-holder" }, face, presenceDot(status)), words);
    return button;
  }

  /**
   * @param {number} first
   * @param {number} last
   */
  function looked(first, last) {
    if (guildId === null) return;
    clearTimeout(timer);
    const blocks = blocksOf(first, last);
    const next = JSON.stringify(blocks);
    if (next === asked) return;
    // Who scrolls past a thousand rows does not look at them.
    const tell = () => {
      asked = next;
      acts.interest.show(guildId, listId, blocks);
    };
    if (asked === "") tell();
    else timer = setTimeout(tell, PATIENCE_MS);
  }

  /** Whether the account may know who sees the channel. */
  function isTold() {
    const place = store.read.channels.get(listId);
    return guildId === null || (place !== undefined && may(store.read, place, BITS.VIEW_CHANNEL_MEMBERS));
  }

  function update() {
    known = current();
    hidden.hidden = isTold();
    list.show(known ? lengthOf(known) : isTold() ? WAITING : 0);
  }

  /** @param {HTMLElement} item @param {number} index */
  function focus(item, index) {
    const button = item.querySelector("button");
    awaited = button ? -1 : index;
    button?.focus({ preventScroll: true });
  }

  /** @param {number} index @param {1 | -1} way */
  function personFrom(index, way) {
    const length = lengthOf(known);
    for (let at = index; at >= 0 && at < length; at += way) {
      const row = rowOf(known, at);
      if (row === null || !("group" in row)) return at;
    }
    return null;
  }

  /** @param {KeyboardEvent} event */
  function moved(event) {
    const at = list.indexOf(/** @type {Element} */ (event.target));
    if (at === null) return;
    const last = lengthOf(known) - 1;
    /** @type {Readonly<Record<string, () => number | null>>} */
    const ways = {
      ArrowDown: () => personFrom(at + 1, 1),
      ArrowUp: () => personFrom(at - 1, -1),
      Home: () => personFrom(0, 1),
      End: () => personFrom(last, -1),
    };
    const next = ways[event.key]?.();
    if (next === undefined) return;
    event.preventDefault();
    if (next === null) return;
    tabStop = next;
    const item = list.reveal(next);
    if (item) focus(item, next);
    update();
  }

  rows.addEventListener("keydown", moved);
  rows.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("button.member"));
    if (!button) return;
    tabStop = list.indexOf(button) ?? tabStop;
    app.open("profile", { userId: button.dataset["user"], guildId, anchor: button, side: "beside" });
  });

  const topics = guildId === null ? ["*"] : [`list:${guildId}:${listId}`, `guild:${guildId}`];
  const unwatch = store.watch(topics, update);
  if (guildId !== null) looked(0, 0);
  update();

  return {
    element,
    stop() {
      unwatch();
      list.stop();
      clearTimeout(timer);
    },
  };
}
