// Frames in both directions and requests with their answers, as they go.

import { fill, h } from "../client/base/dom.js";
import { ask, copy } from "./dev_api.js";
import { WindowedList } from "./dev_list.js";
import { accounts, bytes, clockTime, copyable, nameOf, options } from "./dev_parts.js";
import { follow } from "./dev_stream.js";
import { byId, inputById, say } from "./dom.js";
import { plural, t } from "./spoken.js";

const KEPT = 20_000;
const DROPPED_AT_ONCE = 2_000;
const ROW_HEIGHT = 28;
const HEARTBEATS = new Set([1, 11]);
/** @type {Record<number, string>} */
const OPCODES = {
  0: "DISPATCH", 1: "HEARTBEAT", 2: "IDENTIFY", 3: "PRESENCE_UPDATE", 4: "VOICE_STATE_UPDATE", 6: "RESUME", 7: "RECONNECT",
  8: "REQUEST_GUILD_MEMBERS", 9: "INVALID_SESSION", 10: "HELLO", 11: "HEARTBEAT_ACK", 14: "LAZY_REQUEST",
};

/** An id in a path is told by its end. */
const LONG_ID = /\b\d{13,15}(\d{4})\b/g;

/** @typedef {import("./dev_stream.js").Entry & {words?: string}} Entry With the words that the filter looks at. */

/** @type {Entry[]} */
let entries = [];
/** @type {Entry[]} */
let shown = [];
/** @type {Entry[]} */
let waiting = [];
let isPaused = false;
let leftOut = 0;
let atNodes = 0;
/** @type {number | null} */
let recordingFrom = null;
/** @type {WindowedList<Entry>} */
let list;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let counting;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let choosing;
/** @type {Map<string, string>} */
const sessions = new Map();
/** @type {WeakMap<HTMLElement, Record<string, Text>>} */
const cellsOfRows = new WeakMap();

export async function start() {
  list = new WindowedList(byId("traffic-list"), { label: t("Frames and requests"), rowHeight: ROW_HEIGHT, draw, choose });
  for (const id of ["filter-text", "filter-kind", "filter-session", "filter-heartbeats"]) byId(id).addEventListener("input", refilter);
  byId("traffic-pause").addEventListener("click", pause);
  byId("traffic-clear").addEventListener("click", clear);
  byId("traffic-test").addEventListener("click", copyAsTest);
  byId("traffic-record").addEventListener("click", record);
  /** @type {{entries: Entry[], next: number} | undefined} */
  const past = await ask("GET", "/history?limit=500&payloads=false");
  if (past === undefined) return;
  take({ ...past, dropped: 0 });
  void follow(past.next - 1, take, connected);
}

/** @param {boolean} isThere */
function connected(isThere) {
  byId("traffic-count").classList.toggle("gone", !isThere);
  if (!isThere) byId("traffic-count").textContent = t("The server is gone. This page goes on when it is back.");
  else count();
}

/** @param {import("./dev_stream.js").Batch} batch */
function take(batch) {
  leftOut += batch.dropped;
  atNodes = batch.sessions_at_nodes ?? 0;
  if (isPaused) {
    waiting = [...waiting, ...batch.entries].slice(-KEPT);
    count();
    return;
  }
  add(batch.entries);
}

/** @param {Entry[]} added */
function add(added) {
  for (const entry of added) {
    entry.words = wordsOf(entry);
    note(entry);
  }
  entries.push(...added);
  if (entries.length > KEPT + DROPPED_AT_ONCE) {
    const oldest = entries[entries.length - KEPT]?.number ?? 0;
    entries = entries.slice(-KEPT);
    shown = shown.filter((entry) => entry.number >= oldest);
  }
  const wanted = wantedNow();
  for (const entry of added) if (wanted(entry)) shown.push(entry);
  list.put(shown);
  count();
}

/** @param {Entry} entry */
function note(entry) {
  if (entry.session_id && !sessions.has(entry.session_id)) {
    sessions.set(entry.session_id, `${nameOf(entry.user_id)} · ${entry.session_id.slice(0, 8)}`);
    options(byId("filter-session", HTMLSelectElement), [["", t("All sessions")], ...sessions]);
  }
}

/**
 * What the filter looks at.
 * @param {Entry} entry
 */
function wordsOf(entry) {
  const parts = [titleOf(entry), nameOf(entry.user_id), entry.user_id, entry.session_id, entry.method, entry.status, entry.bucket, entry.code, entry.op];
  return parts.filter((part) => part !== null && part !== undefined).join(" ").toLowerCase();
}

/**
 * @param {Entry} entry
 * @returns {string}
 */
function titleOf(entry) {
  switch (entry.kind) {
    case "request": return entry.path ?? "";
    case "opened": return t("opened");
    case "ended": return t("closed {code}", { code: entry.code ?? "" }) + (entry.reason ? ` ${entry.reason}` : "");
    default: return entry.event ?? OPCODES[entry.op ?? -1] ?? t("no payload");
  }
}

/** @returns {(entry: Entry) => boolean} */
function wantedNow() {
  const words = inputById("filter-text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = byId("filter-kind", HTMLSelectElement).value;
  const session = byId("filter-session", HTMLSelectElement).value;
  const heartbeats = inputById("filter-heartbeats").checked;
  return (entry) => (kind === "" || (entry.kind === "request") === (kind === "request"))
    && (session === "" || entry.session_id === session)
    && (heartbeats || !(entry.kind === "frame" && HEARTBEATS.has(entry.op ?? -1)))
    && words.every((word) => entry.words?.includes(word) ?? false);
}

function refilter() {
  shown = entries.filter(wantedNow());
  list.put(shown);
  count();
}

// A live region speaks: ten times a second is too often.
function count() {
  counting ??= setTimeout(() => {
    counting = undefined;
    if (!byId("traffic-count").classList.contains("gone")) byId("traffic-count").textContent = counted();
  }, 250);
}

function counted() {
  const parts = [plural(shown.length, "{n} entry", "{n} entries")];
  if (shown.length < entries.length) parts.push(t("{hidden} hidden by the filter", { hidden: entries.length - shown.length }));
  if (isPaused) parts.push(t("paused, {waiting} more", { waiting: waiting.length }));
  if (leftOut > 0) parts.push(t("{left} left out, too fast to show", { left: leftOut }));
  if (recordingFrom !== null) parts.push(t("recording"));
  if (atNodes > 0) parts.push(plural(atNodes, "without the frames of {n} session at a gateway node", "without the frames of {n} sessions at gateway nodes"));
  return parts.join(" · ");
}

const ARROWS = { out: "←", in: "→" };
const CELLS = ["at", "from", "way", "unseen", "title", "number", "size"];

/**
 * Ten times a second all rows get other entries: the elements stay, and only their text is another one.
 * @param {HTMLElement} row
 * @param {Entry} entry
 */
function draw(row, entry) {
  const cells = cellsOf(row);
  const write = (/** @type {string} */ name, /** @type {string} */ text) => {
    const cell = cells[name];
    if (cell) cell.data = text;
  };
  const isRequest = entry.kind === "request";
  const isFrame = entry.kind === "frame";
  row.className = `entry of-${entry.kind} ${entry.direction ?? ""} ${(entry.status ?? 0) >= 400 ? "bad" : ""}`;
  write("at", clockTime(entry.at));
  write("from", nameOf(entry.user_id) || (isRequest ? t("anyone") : `#${entry.socket}`));
  write("way", isRequest ? (entry.method ?? "") : isFrame ? `${ARROWS[entry.direction ?? "out"]} ${entry.op ?? "?"}` : "●");
  write("unseen", isFrame ? (entry.direction === "in" ? t("from the client") : t("to the client")) : "");
  write("title", titleOf(entry).replace(LONG_ID, "…$1"));
  write("number", isRequest ? String(entry.status) : entry.sequence ? `s ${entry.sequence}` : "");
  write("size", isRequest ? t("{ms} ms", { ms: entry.ms ?? 0 }) : entry.size ? bytes(entry.size) : "");
}

/** @param {HTMLElement} row */
function cellsOf(row) {
  const known = cellsOfRows.get(row);
  if (known) return known;
  const cells = CELLS.map((name) => /** @type {const} */ ([name, document.createTextNode("")]));
  row.append(...cells.map(([name, text]) => h("span", { class: name }, text)));
  const made = Object.fromEntries(cells);
  cellsOfRows.set(row, made);
  return made;
}

/** @param {Entry | null} entry */
function choose(entry) {
  byId("detail-nothing").hidden = entry !== null;
  byId("detail-body").hidden = entry === null;
  if (entry === null) return;
  clearTimeout(choosing);
  choosing = setTimeout(() => detail(entry), 60);
}

/** @param {Entry} entry */
async function detail(entry) {
  /** @type {Entry | undefined} */
  const whole = await ask("GET", `/history/${entry.number}`);
  if (whole === undefined || list.selected !== entry) return;
  /** @type {[string, import("../client/base/dom.js").Child][]} */
  const all = [
    [t("Number"), whole.number], [t("Time"), whole.at], [t("Account"), whole.user_id === null || whole.user_id === undefined ? "" : `${nameOf(whole.user_id)} ${whole.user_id}`],
    [t("Session"), whole.session_id ? copyable(whole.session_id) : ""], [t("Route"), whole.route], [t("Status"), whole.status],
    [t("Bucket"), whole.bucket], [t("Limit"), whole.limits ? Object.entries(whole.limits).map(([name, value]) => `${name} ${value}`).join(", ") : ""],
    [t("Size"), whole.size ? bytes(whole.size) : ""], [t("Refused"), whole.refused],
  ];
  const facts = all.filter(([, value]) => value !== undefined && value !== null && value !== "");
  fill(byId("detail-body"),
    h("h3", {}, titleOf(whole)),
    h("dl", { class: "facts-list" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    ...(whole.kind === "request" ? [part(t("Body"), whole.body), part(t("Answer"), whole.answer)] : [part(t("Payload"), whole.payload ?? whole.text)]),
  );
}

/**
 * @param {string} title
 * @param {unknown} value
 */
function part(title, value) {
  if (value === undefined || value === null) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return h("div", { class: "part" },
    h("div", { class: "part-head" }, h("h4", {}, title), h("button", { type: "button", class: "small", click: () => copy(text) }, t("Copy"))),
    h("pre", { class: "payload", tabindex: "0", role: "region", "aria-label": title }, text),
  );
}

function pause() {
  isPaused = !isPaused;
  byId("traffic-pause").setAttribute("aria-pressed", String(isPaused));
  byId("traffic-pause").textContent = isPaused ? t("Go on") : t("Pause");
  if (!isPaused) {
    const held = waiting;
    waiting = [];
    add(held);
  }
  count();
}

function clear() {
  entries = [];
  shown = [];
  waiting = [];
  leftOut = 0;
  list.select(null);
  list.put(shown);
  count();
}

/** @param {Record<string, string>} query */
async function source(query) {
  /** @type {{source: string, left_out: string[]} | undefined} */
  const made = await ask("GET", `/history/test?${new URLSearchParams(query)}`);
  if (made === undefined) return;
  list.select(null);
  byId("detail-nothing").hidden = true;
  byId("detail-body").hidden = false;
  fill(byId("detail-body"),
    h("h3", {}, t("What happened, as a test")),
    made.left_out.length === 0 ? null : h("ul", { class: "left-out" }, made.left_out.map((line) => h("li", {}, line))),
    part(t("Python"), made.source),
  );
  await copy(made.source);
}

async function copyAsTest() {
  const [first] = shown;
  const last = shown.at(-1);
  if (!first || !last) {
    say(t("Nothing has happened yet."), "bad");
    return;
  }
  const session = byId("filter-session", HTMLSelectElement).value;
  await source({ after: String(first.number - 1), before: String(last.number + 1), ...(session ? { session_id: session } : {}) });
}

async function record() {
  if (recordingFrom === null) {
    /** @type {{next: number} | undefined} */
    const state = await ask("GET", "/history?limit=1&payloads=false");
    if (state !== undefined) recordingFrom = state.next;
  } else {
    const after = recordingFrom - 1;
    recordingFrom = null;
    await source({ after: String(after) });
  }
  byId("traffic-record").setAttribute("aria-pressed", String(recordingFrom !== null));
  byId("traffic-record").textContent = recordingFrom === null ? t("Record a test") : t("Stop and copy the test");
  count();
}

export function renamed() {
  for (const entry of entries) entry.words = wordsOf(entry);
  if (accounts.size > 0) refilter();
}
