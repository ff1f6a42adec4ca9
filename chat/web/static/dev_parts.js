// What several places of the workbench show: names of accounts, tables, text that can be copied.

import { fill, h } from "../client/base/dom.js";
import { copy } from "./dev_api.js";
import { locale, t } from "./language.js";

/** @typedef {import("../client/base/dom.js").Child} Child */
/** @typedef {{id: string, username: string, token: string, email: string, password: string}} Person */
/** @typedef {{application_id: string, user_id: string, token: string, client_secret: string}} Bot */
/**
 * @typedef {object} World
 * @property {string} base_url
 * @property {string} gateway_url
 * @property {Person} admin
 * @property {Person[]} users
 * @property {Bot} bot
 * @property {string} admin_key
 * @property {string} guild_id
 * @property {string} channel_id
 * @property {string} voice_channel_id
 */
/** @typedef {{id: string, name: string, token: string, authorization: string, email?: string, password?: string}} Account */

/**
 * Everybody whose token is known, by id.
 * @type {Map<string, Account>}
 */
export const accounts = new Map();

/** @param {World} world */
export function know(world) {
  /** @type {Account[]} */
  const people = [world.admin, ...world.users].map((user) => ({ id: user.id, name: user.username, token: user.token, authorization: user.token, email: user.email, password: user.password }));
  const bot = { id: world.bot.user_id, name: t("bot"), token: world.bot.token, authorization: `Bot ${world.bot.token}` };
  accounts.clear();
  for (const account of [...people, bot]) accounts.set(account.id, account);
}

/** @param {string | null | undefined} userId */
export function nameOf(userId) {
  return userId === null || userId === undefined ? "" : (accounts.get(userId)?.name ?? userId);
}

/**
 * @param {string} text
 * @param {string} [shown]
 */
export function copyable(text, shown = text) {
  return h("span", { class: "copyable" },
    h("code", {}, shown),
    h("button", { type: "button", class: "copy", "aria-label": t("Copy {text}", { text: shown }), click: () => copy(text) }),
  );
}

/**
 * `headings` and, for each row, as many cells: text or elements.
 * @param {HTMLTableElement} element
 * @param {Child[]} headings
 * @param {Child[][]} rows
 */
export function table(element, headings, rows) {
  fill(element,
    h("thead", {}, h("tr", {}, headings.map((heading) => h("th", { scope: "col" }, heading)))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell))))),
  );
  element.hidden = rows.length === 0;
}

/**
 * @param {HTMLSelectElement} select
 * @param {readonly (readonly [string, string])[]} entries
 */
export function options(select, entries) {
  const chosen = select.value;
  fill(select, entries.map(([value, text]) => h("option", { value }, text)));
  if (entries.some(([value]) => value === chosen)) select.value = chosen;
}

const thousands = new Intl.NumberFormat(locale(), { maximumFractionDigits: 1 });

/** @param {number} size */
export function bytes(size) {
  return size < 1000 ? `${size} B` : `${thousands.format(size / 1000)} kB`;
}

/** @param {string} timestamp */
export function clockTime(timestamp) {
  return timestamp.slice(11, 23);
}
