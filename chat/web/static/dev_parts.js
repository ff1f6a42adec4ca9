// What several places of the workbench show: names of accounts, tables, text that can be copied.

import { copy } from "./dev_api.js";
import { fill, h } from "./dom.js";
import { locale, t } from "./language.js";

/** Everybody whose token is known, by id: {id, name, token, authorization}. */
export const accounts = new Map();

export function know(world) {
  const people = [world.admin, ...world.users].map((user) => ({ id: user.id, name: user.username, token: user.token, authorization: user.token, email: user.email, password: user.password }));
  const bot = { id: world.bot.user_id, name: t("bot"), token: world.bot.token, authorization: `Bot ${world.bot.token}` };
  accounts.clear();
  for (const account of [...people, bot]) accounts.set(account.id, account);
}

export function nameOf(userId) {
  return userId === null || userId === undefined ? "" : (accounts.get(userId)?.name ?? userId);
}

export function copyable(text, shown = text) {
  return h("span", { class: "copyable" },
    h("code", {}, shown),
    h("button", { type: "button", class: "copy", "aria-label": t("Copy {text}", { text: shown }), click: () => copy(text) }),
  );
}

// `headings` and, for each row, as many cells: text or elements.
export function table(element, headings, rows) {
  fill(element,
    h("thead", {}, h("tr", {}, headings.map((heading) => h("th", { scope: "col" }, heading)))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell))))),
  );
  element.hidden = rows.length === 0;
}

export function options(select, entries) {
  const chosen = select.value;
  fill(select, entries.map(([value, text]) => h("option", { value }, text)));
  if (entries.some(([value]) => value === chosen)) select.value = chosen;
}

const thousands = new Intl.NumberFormat(locale(), { maximumFractionDigits: 1 });

export function bytes(size) {
  return size < 1000 ? `${size} B` : `${thousands.format(size / 1000)} kB`;
}

export function clockTime(timestamp) {
  return timestamp.slice(11, 23);
}
