// What pages of the console are made of. Whatever comes from outside is text: nothing here makes markup.

import { fill, h } from "../client/base/dom.js";
import { copied } from "./copying.js";
import { byId, when } from "./dom.js";
import { locale, t } from "./spoken.js";

/** @typedef {import("../client/base/dom.js").Child} Child */
/** @typedef {{username: string, discriminator: string | number | null}} Tagged Whoever is named by a tag. */

/**
 * Says what came of something, where it is read out and stays to be seen.
 * @param {Child} said
 * @param {"good" | "bad"} [kind]
 */
export function announce(said, kind = "good") {
  const status = byId("status");
  status.className = `status ${kind}`;
  fill(status, said);
}

/** @param {...Child} children */
export function paragraph(...children) {
  return h("p", {}, children);
}

/** @param {...Child} children */
export function muted(...children) {
  return h("p", { class: "muted" }, children);
}

/**
 * Whole sentences, one after the other; what is not said is left out.
 * @param {...(string | false | null | undefined)} said
 */
export function sentences(...said) {
  return said.filter(Boolean).join(" ");
}

/**
 * A moment in the reader's time zone; ISO 8601 in UTC when it is pointed at.
 * @param {string | number | null} timestamp ISO 8601, or Unix milliseconds.
 */
export function inZone(timestamp) {
  return timestamp === null ? "–" : when(timestamp);
}

// [unit, its seconds, up to how many of it are counted]
/** @type {readonly [Intl.RelativeTimeFormatUnit, number, number][]} */
const SPANS = [
  ["second", 1, 60],
  ["minute", 60, 60],
  ["hour", 3_600, 48],
  ["day", 86_400, 90],
  ["month", 2_629_800, 24],
  ["year", 31_557_600, Infinity],
];
const relative = new Intl.RelativeTimeFormat(locale());

/**
 * "in 3 days", "2 hours ago".
 * @param {string | number} timestamp
 */
export function fromNow(timestamp) {
  const seconds = (new Date(timestamp).getTime() - Date.now()) / 1_000;
  const [unit, size] = SPANS.find(([, one, most]) => Math.abs(seconds) < one * most) ?? ["year", 31_557_600];
  return relative.format(Math.round(seconds / size), unit);
}

/** @param {string | number | null} timestamp */
export function withDistance(timestamp) {
  if (timestamp === null) return ["–"];
  return [inZone(timestamp), " ", h("span", { class: "muted" }, `(${fromNow(timestamp)})`)];
}

/** @param {Child} text */
export function code(text) {
  return h("code", {}, text);
}

/** @param {Child} text */
export function fromOutside(text) {
  return h("span", { class: "from-outside" }, text);
}

/**
 * @param {Child} text
 * @param {string} [kind]
 */
export function tag(text, kind = "") {
  return h("span", { class: `tag ${kind}`.trim() }, text);
}

/**
 * @param {string} place
 * @param {...Child} children
 */
export function link(place, ...children) {
  return h("a", { href: place }, children);
}

export const accountPlace = (/** @type {string} */ id) => `/admin/users/${encodeURIComponent(id)}`;
export const guildPlace = (/** @type {string} */ id) => `/admin/guilds/${encodeURIComponent(id)}`;
export const jobPlace = (/** @type {string} */ id) => `/admin/jobs/${encodeURIComponent(id)}`;
export const entryPlace = (/** @type {string} */ id) => `/admin/audit-log/${encodeURIComponent(id)}`;

// When an account, a guild or a message was made stands in its identifier.
const EPOCH_MS = 1_420_070_400_000n;

/** @param {string} id */
export function madeAt(id) {
  return new Date(Number((BigInt(id) >> 22n) + EPOCH_MS)).toISOString();
}

/** @param {Tagged} user */
export function tagOf(user) {
  return `${user.username}#${String(user.discriminator).padStart(4, "0")}`;
}

/**
 * A link to an account: by its name where one is known, else by its identifier.
 * @param {string | null | undefined} id
 * @param {Tagged | null} [user]
 */
export function accountLink(id, user) {
  if (id === null || id === undefined || id === "0") return t("nobody");
  return link(accountPlace(id), user ? fromOutside(tagOf(user)) : code(id));
}

/**
 * <dl> of [name, value] pairs; null leaves a pair out, an empty value shows a dash.
 * @param {...(readonly [Child, Child] | null)} pairs
 */
export function facts(...pairs) {
  const rows = pairs.filter((pair) => pair !== null);
  return h(
    "dl",
    { class: "facts-of" },
    rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, isEmpty(value) ? h("span", { class: "muted" }, "–") : value)]),
  );
}

/** @param {Child} value */
function isEmpty(value) {
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}

/**
 * A section of a page with a heading of its own.
 * @param {string} title
 * @param {...Child} children
 */
export function card(title, ...children) {
  const id = `card-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id, tabindex: "-1" }, title), children);
}

/**
 * A table that becomes a list of cards where there is no room. `columns` are [heading, (row) => cell]; roles are spelt
 * out because some browsers forget them with the display.
 * @template Row
 * @param {string} caption
 * @param {readonly (readonly [string, (row: Row) => Child])[]} columns
 * @param {readonly Row[]} rows
 * @param {{empty?: string}} [options]
 */
export function table(caption, columns, rows, { empty = t("None.") } = {}) {
  if (rows.length === 0) return muted(empty);
  const cell = (/** @type {Row} */ row) => (/** @type {readonly [string, (row: Row) => Child]} */ [heading, show]) =>
    h("td", { role: "cell", "data-heading": heading }, h("span", { class: "value" }, show(row)));
  return h(
    "table",
    { class: "list", role: "table" },
    h("caption", { class: "unseen" }, caption),
    h(
      "thead",
      { role: "rowgroup" },
      h("tr", { role: "row" }, columns.map(([heading]) => h("th", { role: "columnheader", scope: "col" }, heading))),
    ),
    h("tbody", { role: "rowgroup" }, rows.map((row) => h("tr", { role: "row" }, columns.map(cell(row))))),
  );
}

/**
 * "Earlier" and "Later" of a list that knows its total; `go(offset)` turns the page.
 * @param {{offset: number, limit: number, total: number, go: (offset: number) => void}} parts
 */
export function pager({ offset, limit, total, go }) {
  if (total <= limit && offset === 0) return null;
  const last = Math.min(offset + limit, total);
  return h(
    "nav",
    { class: "pager", "aria-label": t("Pages") },
    h("button", { type: "button", disabled: offset === 0, click: () => go(Math.max(0, offset - limit)) }, t("Previous")),
    h("span", { class: "muted" }, t("{first}–{last} of {total}", { first: total === 0 ? 0 : offset + 1, last, total })),
    h("button", { type: "button", disabled: last >= total, click: () => go(offset + limit) }, t("Next")),
  );
}

/**
 * A list that is read page by page: `next(cursor)` gives {rows, cursor}, null for the last. `show(rows)` draws them all.
 * @template Row, Cursor
 * @param {{rows: Row[], cursor: Cursor | null}} first
 * @param {(rows: Row[]) => Child} show
 * @param {(cursor: Cursor) => Promise<{rows: Row[], cursor: Cursor | null}>} next
 */
export function growing(first, show, next) {
  const place = h("div", {}, show(first.rows));
  const said = h("span", { class: "muted", role: "status" });
  let { rows, cursor } = first;
  const button = h("button", { type: "button" }, t("Show more"));
  const row = h("p", { class: "buttons", hidden: cursor === null }, button, said);
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    if (cursor === null) return;
    try {
      const more = await next(cursor);
      rows = [...rows, ...more.rows];
      cursor = more.cursor;
      fill(place, show(rows));
      said.textContent = t("{n} shown.", { n: rows.length });
      row.hidden = false;
      button.hidden = cursor === null;
    } catch (error) {
      said.textContent = /** @type {Error} */ (error).message;
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
  return h("div", {}, place, row);
}

/**
 * @param {number} done
 * @param {number | null} total
 * @param {string} words
 */
export function progress(done, total, words) {
  const bar = h("progress", { "aria-label": words, max: total ?? 1 });
  if (total !== null) bar.value = done;
  return bar;
}

/**
 * A text that is shown once, with a way to copy it.
 * @param {string} label
 * @param {string} text
 */
export function oneTimeText(label, text) {
  const said = h("span", { class: "muted", role: "status" });
  const copy = h("button", { type: "button" }, t("Copy"));
  copy.addEventListener("click", async () => {
    [said.textContent] = await copied(text);
  });
  return h(
    "div",
    { class: "one-time" },
    h("p", { class: "secret-text code", "aria-label": label, tabindex: "0", role: "group" }, text),
    h("p", { class: "buttons" }, copy, said),
  );
}

/**
 * What is told of a value whose kind nobody knows: text as it is, the rest as JSON.
 * @param {unknown} value
 */
export function plain(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
