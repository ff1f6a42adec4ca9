// What the server measured of itself over the last day or week: small charts with their numbers. Each says in words
// what it shows, and has the numbers as a table.

import { size } from "./admin_archives.js";
import { READS } from "./admin_operations.js";
import { card, muted, table } from "./admin_parts.js";
import { polled } from "./admin_polling.js";
import { ask } from "./admin_session.js";
import { fill, h } from "./dom.js";
import { locale, t } from "./spoken.js";

const EVERY_MS = 60_000;
const WIDTH = 320;
const HEIGHT = 72;
const ROWS = 12;

const whole = (value) => Math.round(value).toLocaleString(locale());
const time = (value) => (value >= 1_000 ? t("{n} s", { n: (value / 1_000).toLocaleString(locale(), { maximumFractionDigits: 1 }) }) : t("{n} ms", { n: value.toLocaleString(locale(), { maximumFractionDigits: value < 10 ? 1 : 0 }) }));

// [title, how a value is written, whether the sum of it is told, [line, words, value of a point]...]. What is counted
// stands at zero where nothing came to pass; what is measured has a gap there.
const charts = () => [
  [t("Messages"), whole, true, ["first", t("Messages"), (point) => point.messages]],
  [t("People and sessions"), whole, false, ["first", t("People online"), (point) => point.online], ["second", t("Sessions"), (point) => point.sessions]],
  [t("Requests"), whole, true, ["first", t("Requests"), (point) => point.requests], ["bad", t("Failed"), (point) => point.failures]],
  [t("Time to answer"), time, false, ["first", t("Median"), (point) => point.p50_ms], ["second", t("99 of 100"), (point) => point.p99_ms]],
  [t("Longest pause"), time, false, ["first", t("Longest pause"), (point) => point.lag_ms]],
  [t("Memory"), size, false, ["first", t("Memory"), (point) => point.memory_bytes]],
  [t("Stored"), size, false, ["first", t("Database and uploads"), (point) => point.stored_bytes]],
];

export async function historyCard(signal) {
  let period = "day";
  const place = h("div", { class: "charts" });
  const read = () => ask(READS.history, { query: { period }, signal });
  const show = (history) => fill(place, history.points.length === 0 ? muted(t("The server has measured nothing yet: the first figures come within a minute.")) : charts().map((chart) => drawn(history, ...chart)));
  const choose = (name, words) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": String(name === period),
        click: async (event) => {
          for (const button of event.target.parentElement.children) button.setAttribute("aria-pressed", String(button === event.target));
          period = name;
          show(await read());
        },
      },
      words,
    );
  const first = await read();
  show(first);
  polled(first, read, show, { signal, isDone: () => false, shortest: EVERY_MS });
  return card(
    t("How it is doing"),
    h("div", { class: "buttons periods", role: "group", "aria-label": t("Period") }, choose("day", t("Last day")), choose("week", t("Last week"))),
    place,
  );
}

function drawn(history, title, write, isCounted, ...lines) {
  const { points } = history;
  const values = lines.map(([, , value]) => points.map(value));
  const top = Math.max(...values.flat().map((value) => value ?? 0), 0);
  const said = lines.map(([, words], at) => ({ words, ...told(values[at], isCounted) }));
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": said.map(({ words, sum, last, most }) => spoken(words, write, sum, last, most)).join(" ") });
  lines.forEach(([kind], at) => picture.append(...shapes(history, values[at], top, kind, isCounted)));
  const mark = svg("line", { class: "mark", y1: 0, y2: HEIGHT, visibility: "hidden" });
  picture.append(mark);
  const under = h("p", { class: "under" }, h("span", {}, moment(history, history.since)), h("span", {}, t("at most {value}", { value: write(top) })), h("span", {}, t("now")));
  const plain = [...under.childNodes];
  picture.addEventListener("pointermove", (event) => {
    const bounds = picture.getBoundingClientRect();
    const at = nearest(history, (event.clientX - bounds.left) / bounds.width);
    const x = place(history, points[at].at);
    for (const [name, value] of [["x1", x], ["x2", x], ["visibility", "visible"]]) mark.setAttribute(name, value);
    fill(under, h("span", {}, moment(history, points[at].at, true)), lines.map(([, words], line) => h("span", {}, `${words}: ${values[line][at] === null ? "–" : write(values[line][at])}`)));
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
      lines.map(([kind], at) => h("span", { class: `key ${kind}` }, lines.length > 1 ? h("span", { class: "of" }, said[at].words) : null, h("b", {}, said[at].sum === null ? (said[at].last === null ? "–" : write(said[at].last)) : write(said[at].sum)))),
    ),
    picture,
    under,
    h("details", {}, h("summary", {}, t("Numbers")), numbers(history, title, write, isCounted, lines, values)),
  );
}

function told(values, isCounted) {
  const known = values.filter((value) => value !== null);
  return {
    sum: isCounted ? known.reduce((sum, value) => sum + value, 0) : null,
    last: known.at(-1) ?? null,
    most: known.length ? Math.max(...known) : null,
  };
}

function spoken(words, write, sum, last, most) {
  if (most === null) return t("{words}: nothing yet.", { words });
  if (sum !== null) return t("{words}: {sum} in all, at most {most} at a time.", { words, sum: write(sum), most: write(most) });
  return t("{words}: {last} at last, at most {most}.", { words, last: write(last), most: write(most) });
}

// Where a moment lies on the picture.
function place(history, at) {
  const since = Date.parse(history.since);
  const steps = (Date.parse(history.until) - since) / (history.step_seconds * 1_000);
  return (((Date.parse(at) - since) / (history.step_seconds * 1_000) + 0.5) / Math.max(steps, 1)) * WIDTH;
}

function nearest(history, part) {
  const x = part * WIDTH;
  return history.points.reduce((best, point, at) => (Math.abs(place(history, point.at) - x) < Math.abs(place(history, history.points[best].at) - x) ? at : best), 0);
}

// A line for each stretch without a gap, and the area below the first kind.
function shapes(history, values, top, kind, isCounted) {
  const y = (value) => (HEIGHT - 3 - (top > 0 ? (value / top) * (HEIGHT - 9) : 0)).toFixed(1);
  const stretches = [];
  let before = null;
  history.points.forEach((point, at) => {
    const value = values[at];
    const began = Date.parse(point.at);
    if (value === null || (kind === "bad" && value === 0)) {
      before = null;
      return;
    }
    const follows = before !== null && began - before <= history.step_seconds * 1_500;
    if (!follows) stretches.push([]);
    stretches.at(-1).push(`${place(history, point.at).toFixed(1)},${y(value)}`);
    before = began;
  });
  return stretches.flatMap((stretch) => {
    // A single point is a short line: it would not be seen.
    const [x, height] = stretch[0].split(",");
    const line = stretch.length === 1 ? [stretch[0], `${(Number(x) + 1.5).toFixed(1)},${height}`] : stretch;
    const end = line.at(-1).split(",")[0];
    const area = kind === "first" ? [svg("path", { class: "area", d: `M${x},${HEIGHT - 3} L${line.join(" L")} L${end},${HEIGHT - 3} Z` })] : [];
    return [...area, svg("path", { class: `line ${kind}`, d: `M${line.join(" L")}`, "vector-effect": "non-scaling-stroke" })];
  });
}

function moment(history, at, isExact = false) {
  const style = history.period === "day" ? { hour: "2-digit", minute: "2-digit" } : { weekday: "short", ...(isExact ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" }) };
  return new Date(at).toLocaleString(locale(), style);
}

// The numbers as a table, with as many rows as one can read.
function numbers(history, title, write, isCounted, lines, values) {
  const step = Math.ceil(history.points.length / ROWS);
  const rows = [];
  for (let at = 0; at < history.points.length; at += step) {
    const several = values.map((line) => told(line.slice(at, at + step), isCounted));
    rows.push([history.points[at].at, ...several.map(({ sum, most }) => (most === null ? "–" : write(sum ?? most)))]);
  }
  return table(title, [[t("From"), (row) => moment(history, row[0], true)], ...lines.map(([, words], at) => [isCounted ? words : t("{words}, at most", { words }), (row) => row[at + 1]])], rows);
}

function svg(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value));
  return element;
}
