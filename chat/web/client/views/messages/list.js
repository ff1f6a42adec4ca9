// The messages of one channel: what is mounted, what is fetched, and where the reader stands in it.

import { h } from "../../base/dom.js";
import { newestShared } from "../../store/interactions.js";
import { t } from "../../words/catalogue.js";
import { makeDrawn } from "./drawn.js";
import { makeEdges } from "./edges.js";
import { makeHold } from "./hold.js";
import { firstUnread, itemsOf, namedIn, outgoing } from "./items.js";
import { makeKeeper } from "./keeper.js";
import { makeNewer } from "./newer.js";
import { makeReader } from "./reader.js";
import { makeRenewal } from "./renewal.js";
import { makeRowActs } from "./row_acts.js";
import { bounded, grown, indexAt, opened, slice, wanted } from "./window.js";

/** @typedef {import("./window.js").Range} Range */
/** @typedef {import("./row.js").Item} Item */

const FETCHED = 50;
const JUMP_MS = 2000;

/** @param {import("./items.js").ListParts} parts */
export function makeMessageList(parts) {
  const { store, acts, channelId, guildId, on, announce, report, isWatched, beginning = () => [] } = parts;
  const rows = h("ol", { class: "rows", "aria-label": t("list.name") });
  const edges = makeEdges(load, loaded, beginning);
  const history = h("div", { class: "history" }, edges.elements.up, rows, edges.elements.down);
  const scroller = h("div", { class: "scroller", tabindex: "-1" }, history);
  const myId = store.read.session.me;
  const newer = makeNewer(() => void returned(), myId);
  const element = h("section", { class: "messages", "aria-label": t("list.name") }, scroller, newer.element);
  const keeper = makeKeeper(scroller, rows);
  const renew = makeRenewal({ store, acts, channelId, keeper, rows }, () => toNewest(true));
  const drawn = makeDrawn(rows, { store, guildId, invite: acts.guilds.knownInvite }, keeper);
  const read = store.read.reads.get(channelId);
  const reader = makeReader({
    acknowledge: (id) => void acts.reads.acknowledge(channelId, id),
    markUnread: (id) => void acts.reads.markUnread(channelId, id),
    isWatched,
    last: read?.last ?? null,
  });

  /** @type {Map<string, string>} */
  const keys = new Map();
  /** @type {Item[]} */
  let items = [];
  /** @type {Range} */
  let range = { first: "0", last: "0", end: true };
  /** @type {string | null} */
  let line = null;
  let toward = 0;
  let isWaiting = false;
  let [isOpen, isStopped] = [false, false];

  const hold = makeHold(scroller, rested);
  const rowActs = makeRowActs({
    acts,
    channelId,
    element,
    rows,
    myId,
    on,
    jump,
    itemAt: (row) => items[[...rows.children].indexOf(row)],
    markUnread: reader.markUnread,
    report,
  });

  const log = () => store.read.logs.get(channelId);
  /** Whether it reaches to the newest message. */
  const isWhole = () => !log()?.after;

  /** Draws what is mounted; at the end new rows just appear, elsewhere the reader's row stays where it is. */
  function draw() {
    const now = log();
    if (now === undefined || isStopped) return;
    if (hold.isHeld()) {
      isWaiting = true;
      return;
    }
    const isFollowing = range.end && keeper.isAtEnd() && !keeper.isPlacing();
    if (!isFollowing) range = bounded(now.ids, range);
    items = itemsOf({
      log: now,
      range,
      line,
      outgoing: outgoing(store.read.outbox, channelId),
      me: store.read.users.get(myId),
      keys,
    });
    if (isFollowing) show(now);
    else keeper.keep(() => show(now));
    if (guildId !== null) acts.members.know(guildId, namedIn(items));
    seen();
  }

  /** @param {import("../../store/shapes.js").Log} now */
  function show(now) {
    const place = drawn.show(items);
    const [from, to] = slice(now.ids, range);
    edges.show("up", now.before || from > 0);
    edges.show("down", now.after || to < now.ids.length);
    rowActs.settle(place);
  }

  /** Notices the newest row that is in sight, and says what came below it. */
  function seen() {
    const now = log();
    if (now === undefined) return;
    const isAtEnd = range.end && isWhole() && keeper.isAtEnd();
    reader.show(isAtEnd ? newestShared(now) : null);
    newer.show(now, isAtEnd, !range.end || -scroller.scrollTop >= scroller.clientHeight);
  }

  /** Mounts or fetches more where the reader comes near an edge. */
  function extend() {
    const now = log();
    if (now === undefined || isStopped || !isOpen || hold.isHeld() || rows.children.length === 0) return;
    const { counts, reach } = keeper.measure();
    const direction = wanted(counts, reach, toward);
    if (direction === null) return;
    const [from, to] = slice(now.ids, range);
    const isThere = direction === "up" ? from > 0 : to < now.ids.length;
    if (isThere) {
      range = grown(now.ids, range, direction, counts.seen, isWhole());
      draw();
      requestAnimationFrame(extend);
    } else if (direction === "up" ? now.before : now.after) {
      if (!edges.isFailed(direction)) void edges.fetch(direction);
    } else if (direction === "down" && !range.end) {
      range = { ...range, end: true };
    }
  }

  /** @param {"up" | "down"} direction */
  function load(direction) {
    const ids = log()?.ids ?? [];
    const from = direction === "up" ? { before: ids[0] } : { after: ids.at(-1) };
    return acts.messages.history(channelId, { ...(isOpen && ids.length > 0 ? from : {}), limit: FETCHED });
  }

  /** @param {"up" | "down"} direction */
  function loaded(direction) {
    if (isStopped) return;
    if (edges.isFailed(direction)) return edges.show(direction, true);
    if (!isOpen) return void unfold();
    // What was asked for is mounted even if the offset was clamped meanwhile, as the skeleton went.
    toward = direction === "up" ? -1 : 1;
    draw();
    extend();
  }

  /**
   * Opens the channel: at a message, at the line of what is new if that is more than a screen away, or at the end.
   * @param {string | null} target
   */
  async function open(target) {
    if (target !== null) {
      begin(null);
      return jump(target);
    }
    const now = log();
    return now === undefined || now.ids.length === 0 || now.after || now.isOld ? edges.fetch("up") : unfold();
  }

  /** Begins where the reader left, once there are messages. */
  async function unfold() {
    const last = read?.last ?? null;
    line = firstUnread(log(), last, myId);
    const first = log();
    if (last !== null && line !== null && first?.before && first.ids[0] === line) {
      await acts.messages.history(channelId, { around: last, limit: FETCHED }).catch(() => announce(t("list.failed")));
      line = firstUnread(log(), last, myId);
    }
    if (isStopped) return undefined;
    begin(line);
    // A message may have come while the page was on its way.
    return line === null && !isWhole() ? returned() : undefined;
  }

  /** @param {string | null} at the first unread message */
  function begin(at) {
    const now = log();
    isOpen = true;
    if (now === undefined) return;
    range = opened(now.ids, at, isWhole());
    draw();
    const first = at === null ? null : rowOf(at);
    if (first && rows.getBoundingClientRect().bottom - first.getBoundingClientRect().top > scroller.clientHeight) {
      keeper.place(first, 1 / 3);
    } else if (range.end) keeper.toEnd();
    seen();
    extend();
  }

  /** The row of a message, or of the next newer one. @param {string} id */
  function rowOf(id) {
    const ids = log()?.ids ?? [];
    const [from] = slice(ids, range);
    const row = rows.children[indexAt(ids, id) - from] ?? rows.lastElementChild;
    return /** @type {HTMLElement | null} */ (row);
  }

  /**
   * Shows a message in the middle, tinted for two seconds, and gives it the focus.
   * @param {string} id
   */
  async function jump(id) {
    if (!log()?.byId.has(id)) {
      const before = range;
      range = { ...range, end: false };
      try {
        await acts.messages.history(channelId, { around: id, limit: FETCHED });
      } catch {
        range = before;
        return announce(t("list.failed"));
      }
    }
    const now = log();
    if (isStopped || now === undefined || now.ids.length === 0) return undefined;
    const [from, to] = slice(now.ids, range);
    const at = indexAt(now.ids, id);
    if (at < from || at >= to) range = opened(now.ids, id, isWhole());
    hold.end();
    draw();
    const row = rowOf(id);
    if (!row) return undefined;
    if (!now.byId.has(id)) announce(t("list.message_gone"));
    keeper.place(row, 0.5);
    rowActs.focus(row);
    row.classList.add("jumped");
    setTimeout(() => row.classList.remove("jumped"), JUMP_MS);
    seen();
    return extend();
  }

  /** To the newest message; one that is far away replaces what is mounted. */
  async function toNewest(isAnew = false) {
    if (isAnew || !isWhole()) await acts.messages.history(channelId, { limit: FETCHED });
    const now = log();
    if (isStopped || now === undefined) return;
    range = opened(now.ids, null, true);
    keeper.toEnd();
    draw();
    keeper.toEnd();
    seen();
  }

  /** As `toNewest`; what fails is said. */
  const returned = () => toNewest().catch(() => announce(t("list.failed")));

  function moved() {
    toward = keeper.travelled() || toward;
    seen();
    extend();
    rowActs.moved();
  }

  /** The finger is up and nothing rolls any more: what waited is drawn. */
  function rested() {
    if (isWaiting) draw();
    isWaiting = false;
    extend();
  }

  scroller.addEventListener("scroll", moved, { passive: true });
  const unwatch = store.watch([`log:${channelId}`, ...(guildId === null ? [] : [`guild:${guildId}`])], () => {
    if (!isOpen) return;
    const wasAtEnd = range.end && keeper.isAtEnd();
    draw();
    void renew(log(), wasAtEnd);
  });

  return {
    element,
    open,
    jump,
    toNewest,
    markUnread: reader.markUnread,
    /** What one sends is seen, wherever one has read. */
    sent: () => void returned(),
    /** The line of what is new goes, everything is read, and the newest stands there. */
    leaveUnread() {
      line = null;
      const last = newestShared(log());
      if (last) void acts.reads.acknowledge(channelId, last);
      return returned();
    },
    /** The focus goes to the row that had it last, or to the newest. */
    focus: () => rowActs.focus(null),
    stop() {
      isStopped = true;
      unwatch();
      reader.stop();
      keeper.stop();
      hold.stop();
    },
  };
}
