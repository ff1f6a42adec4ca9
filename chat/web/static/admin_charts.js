// What the server measured of itself over the last day or week: small charts with their numbers. Each says in words
// what it shows, and has the numbers as a table.

import { fill, h } from "../client/base/dom.js";
import { size } from "./admin_archives.js";
import { READS } from "./admin_operations.js";
import { card, muted, table } from "./admin_parts.js";
import { polled } from "./admin_polling.js";
import { ask } from "./admin_session.js";
import { locale, t } from "./spoken.js";

const EVERY_MS = 60_000;
const WIDTH = 320;
const HEIGHT = 72;
const ROWS = 12;

/** @typedef {import("wire").FigureHistory} History */
/** @typedef {import("wire").FigurePoint} Point */
/** @typedef {(number | null)[]} Values */
/** @typedef {(value: number) => string} Write How a value is written. */
/** @typedef {readonly [kind: "first" | "second" | "bad", words: string, value: (point: Point) => number | null]} Line */
/** @typedef {{sum: number | null, last: number | null, most: number | null}} Told */

/** @type {Write} */
const whole = (value) => Math.round(value).toLocaleString(locale());
/** @type {Write} */
const time = (value) => (value >= 1_000 ? t("{n} s", { n: (value / 1_000).toLocaleString(locale(), { maximumFractionDigits: 1 }) }) : t("{n} ms", { n: value.toLocaleString(locale(), { maximumFractionDigits: value < 10 ? 1 : 0 }) }));

/**
 * Each with its title, how a value is written, whether the sum of it is told, and its lines. What is counted stands at
 * zero where nothing came to pass; what is measured has a gap there.
 * @returns {[title: string, write: Write, isCounted: boolean, ...lines: Line[]][]}
 */
const charts = () => [
  [t("Messages"), whole, true, ["first", t("Messages"), (point) => point.messages]],
  [t("People and sessions"), whole, false, ["first", t("People online"), (point) => point.online], ["second", t("Sessions"), (point) => point.sessions]],
  [t("Requests"), whole, true, ["first", t("Requests"), (point) => point.requests], ["bad", t("Failed"), (point) => point.failures]],
  [t("Time to answer"), time, false, ["first", t("Median"), (point) => point.p50_ms], ["second", t("99 of 100"), (point) => point.p99_ms]],
  [t("Longest pause"), time, false, ["first", t("Longest pause"), (point) => point.lag_ms]],
  [t("Memory"), size, false, ["first", t("Memory"), (point) => point.memory_bytes]],
  [t("Stored"), size, false, ["first", t("Database and uploads"), (point) => point.stored_bytes]],
];

/** @param {AbortSignal} signal */
export async function historyCard(signal) {
  let period = "day";
  const place = h("div", { class: "charts" });
  const read = () => ask(READS.history, { query: { period }, signal });
  const show = (/** @type {History} */ history) => fill(place, history.points.length === 0 ? muted(t("The server has measured nothing yet: the first figures come within a minute.")) : charts().map((chart) => drawn(history, ...chart)));
  const choose = (/** @type {string} */ name, /** @type {string} */ words) => {
    const press = async () => {
      for (const other of button.parentElement?.children ?? []) other.setAttribute("aria-pressed", String(other === button));
      period = name;
      show(await read());
    };
    const button = h("button", { type: "button", "aria-pressed": String(name === period), click: press }, words);
    return button;
  };
  const first = await read();
  show(first);
  void polled(first, read, show, { signal, isDone: () => false, shortest: EVERY_MS });
  return card(
    t("How it is doing"),
    h("div", { class: "buttons periods", role: "group", "aria-label": t("Period") }, choose("day", t("Last day")), choose("week", t("Last week"))),
    place,
  );
}

/**
 * @param {History} history
 * @param {string} title
 * @param {Write} write
 * @param {boolean} isCounted
 * @param {...Line} lines
 */
function drawn(history, title, write, isCounted, ...lines) {
  const { points } = history;
  const drawings = lines.map(([kind, words, value]) => {
    const values = points.map(value);
    return { kind, words, values, ...told(values, isCounted) };
  });
  const top = Math.max(...drawings.map(({ most }) => most ?? 0), 0);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": drawings.map((one) => spoken(one.words, write, one)).join(" ") });
  for (const { kind, values } of drawings) picture.append(...shapes(history, values, top, kind));
  const mark = svg("line", { class: "mark", y1: 0, y2: HEIGHT, visibility: "hidden" });
  picture.append(mark);
  const under = h("p", { class: "under" }, h("span", {}, moment(history, history.since)), h("span", {}, t("at most {value}", { value: write(top) })), h("span", {}, t("now")));
  const plain = [...under.childNodes];
  picture.addEventListener("pointermove", (event) => {
    const bounds = picture.getBoundingClientRect();
    const at = nearest(history, (event.clientX - bounds.left) / bounds.width);
    const point = points[at];
    if (!point) return;
    const x = String(place(history, point.at));
    mark.setAttribute("x1", x);
    mark.setAttribute("x2", x);
    mark.setAttribute("visibility", "visible");
    const now = drawings.map(({ words, values }) => h("span", {}, `${words}: ${written(values[at] ?? null, write)}`));
    fill(under, h("span", {}, moment(history, point.at, true)), now);
  });
  picture.addEventListener("pointerleave", () => {
    mark.setAttribute("visibility", "hidden");
    fill(under, plain);
  });
  return h(
    "figure",
    { class: "chart" },
    h(
      "figcaption",
      {},
      h("span", { class: "title" }, title),
      drawings.map(({ kind, words, sum, last }) => h("span", { class: `key ${kind}` }, lines.length > 1 ? h("span", { class: "of" }, words) : null, h("b", {}, written(sum ?? last, write)))),
    ),
    picture,
    under,
    h("details", {}, h("summary", {}, t("Numbers")), numbers(history, title, write, isCounted, drawings)),
  );
}

/** @param {number | null} value @param {Write} write */
function written(value, write) {
  return value === null ? "–" : write(value);
}

/**
 * @param {Values} values
 * @param {boolean} isCounted
 * @returns {Told}
 */
function told(values, isCounted) {
  const known = values.filter((value) => value !== null);
  return {
    sum: isCounted ? known.reduce((sum, value) => sum + value, 0) : null,
    last: known.at(-1) ?? null,
    most: known.length ? Math.max(...known) : null,
  };
}

/**
 * @param {string} words
 * @param {Write} write
 * @param {Told} told
 */
function spoken(words, write, { sum, last, most }) {
  if (most === null || last === null) return t("{words}: nothing yet.", { words });
  if (sum !== null) return t("{words}: {sum} in all, at most {most} at a time.", { words, sum: write(sum), most: write(most) });
  return t("{words}: {last} at last, at most {most}.", { words, last: write(last), most: write(most) });
}

/**
 * Where a moment lies on the picture.
 * @param {History} history
 * @param {string} at
 */
function place(history, at) {
  const since = Date.parse(history.since);
  const steps = (Date.parse(history.until) - since) / (history.step_seconds * 1_000);
  return (((Date.parse(at) - since) / (history.step_seconds * 1_000) + 0.5) / Math.max(steps, 1)) * WIDTH;
}

/**
 * @param {History} history
 * @param {number} part
 */
function nearest(history, part) {
  const x = part * WIDTH;
  const distances = history.points.map((point) => Math.abs(place(history, point.at) - x));
  return distances.indexOf(Math.min(...distances));
}

/**
 * A line for each stretch without a gap, and the area below the first kind.
 * @param {History} history
 * @param {Values} values
 * @param {number} top
 * @param {Line[0]} kind
 */
function shapes(history, values, top, kind) {
  const y = (/** @type {number} */ value) => (HEIGHT - 3 - (top > 0 ? (value / top) * (HEIGHT - 9) : 0)).toFixed(1);
  /** @type {[x: number, y: string][][]} */
  const stretches = [];
  /** @type {number | null} */
  let before = null;
  history.points.forEach((point, at) => {
    const value = values[at] ?? null;
    const began = Date.parse(point.at);
    if (value === null || (kind === "bad" && value === 0)) {
      before = null;
      return;
    }
    const follows = before !== null && began - before <= history.step_seconds * 1_500;
    if (!follows) stretches.push([]);
    stretches.at(-1)?.push([place(history, point.at), y(value)]);
    before = began;
  });
  return stretches.flatMap((stretch) => {
    const [first, ...others] = stretch;
    if (!first) return [];
    // A single point is a short line: it would not be seen.
    const [x, height] = first;
    const points = others.length === 0 ? [first, /** @type {const} */ ([x + 1.5, height])] : stretch;
    const line = points.map(([across, up]) => `${across.toFixed(1)},${up}`).join(" L");
    const end = points.at(-1)?.[0] ?? x;
    const area = svg("path", { class: "area", d: `M${x.toFixed(1)},${HEIGHT - 3} L${line} L${end.toFixed(1)},${HEIGHT - 3} Z` });
    const path = svg("path", { class: `line ${kind}`, d: `M${line}`, "vector-effect": "non-scaling-stroke" });
    return kind === "first" ? [area, path] : [path];
  });
}

/**
 * @param {History} history
 * @param {string} at
 * @param {boolean} [isExact]
 */
function moment(history, at, isExact = false) {
  /** @type {Intl.DateTimeFormatOptions} */
  const style = history.period === "day" ? { hour: "2-digit", minute: "2-digit" } : { weekday: "short", ...(isExact ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" }) };
  return new Date(at).toLocaleString(locale(), style);
}

/**
 * The numbers as a table, with as many rows as one can read.
 * @param {History} history
 * @param {string} title
 * @param {Write} write
 * @param {boolean} isCounted
 * @param {{words: string, values: Values}[]} drawings
 */
function numbers(history, title, write, isCounted, drawings) {
  const step = Math.ceil(history.points.length / ROWS);
  const rows = history.points.map(({ at }, start) => ({ at, start })).filter(({ start }) => start % step === 0);
  /** @typedef {typeof rows[number]} Row */
  const columns = drawings.map(({ words, values }) => {
    const cell = (/** @type {Row} */ { start }) => {
      const { sum, most } = told(values.slice(start, start + step), isCounted);
      return most === null ? "–" : write(sum ?? most);
    };
    return /** @type {const} */ ([isCounted ? words : t("{words}, at most", { words }), cell]);
  });
  return table(title, [[t("From"), (row) => moment(history, row.at, true)], ...columns], rows);
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 */
function svg(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value));
  return element;
}
