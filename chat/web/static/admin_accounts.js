// Finding accounts (administration.md, Finding accounts).

import { fill, h } from "../client/base/dom.js";
import { READS } from "./admin_operations.js";
import { accountPlace, code, fromNow, fromOutside, inZone, link, madeAt, muted, pager, table, tag, tagOf } from "./admin_parts.js";
import { go, look, results } from "./admin_places.js";
import { hasFlag } from "./admin_registries.js";
import { ask, holds } from "./admin_session.js";
import { plural, t } from "./spoken.js";

const LIMIT = 50;

/** @typedef {import("wire").AdminUser} AdminUser */
/** @typedef {import("./admin_session.js").Acl} Acl */
/** @typedef {[name: string, words: string, hint: string, acl: Acl | null, longest: number, paged: boolean]} Selector */

/** @type {Selector[]} */
const SELECTORS = [
  ["q", t("Name, address or ID"), t("Looks through names and what else the index knows."), null, 1_024, true],
  ["resolve", t("Exactly one account"), t("A tag like alice#0001, an ID, an email address or a subscription."), null, 1_024, false],
  ["user_id", "IDs", t("Up to a hundred, with spaces or commas between them."), null, 4_096, false],
  ["email", t("Email address"), t("The whole address."), "user:view:email", 320, false],
  ["last_active_ip", t("Last network address"), t("The whole address; part of one finds nothing."), "user:view:ip", 64, true],
];

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showAccounts({ search, signal }) {
  const by = search.get("by");
  const text = search.get("text") ?? "";
  const offset = Math.max(0, Number.parseInt(search.get("offset") ?? "0", 10) || 0);
  const selector = SELECTORS.find(([name]) => name === by);
  const shown = selector === undefined ? [muted(t("Each search is recorded in the audit log, without the words that you look for."))] : await results(() => found(selector, text, offset, signal));
  return { title: t("Accounts"), content: [form(selector?.[0] ?? "q", text), h("div", {}, shown)] };
}

/**
 * @param {Selector} selector
 * @param {string} text
 * @param {number} offset
 * @param {AbortSignal} signal
 */
async function found([name, , , , , paged], text, offset, signal) {
  const value = name === "user_id" ? text.split(/[\s,]+/).filter((part) => part !== "") : text;
  const query = { [name]: value, ...(paged ? { limit: LIMIT, offset } : {}) };
  const { users, total } = await ask(READS.accounts, { query, signal });
  return [
    h("h2", { id: "results", class: "results", tabindex: "-1" }, plural(total, "{n} account", "{n} accounts")),
    accountsTable(users),
    paged ? pager({ offset, limit: LIMIT, total, go: (to) => look({ by: name, text, offset: to || null }) }) : null,
  ];
}

/**
 * @param {string} by
 * @param {string} text
 */
function form(by, text) {
  const select = h(
    "select",
    { id: "search-by", name: "by" },
    SELECTORS.filter(([, , , acl]) => acl === null || holds(acl)).map(([name, words]) => h("option", { value: name, selected: name === by }, words)),
  );
  const input = h("input", {
    id: "search-text",
    name: "text",
    type: "search",
    value: text,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    "aria-describedby": "search-hint",
  });
  const hint = h("p", { class: "hint", id: "search-hint" });
  const adapt = () => {
    const selector = SELECTORS.find(([name]) => name === select.value);
    if (selector) input.maxLength = selector[4];
    input.required = select.value !== "q";
    fill(hint, selector?.[2]);
  };
  select.addEventListener("change", adapt);
  adapt();
  const element = h(
    "form",
    { class: "card search", role: "search", "aria-label": t("Accounts") },
    h("div", { class: "field" }, h("label", { for: "search-by" }, t("Look by")), select),
    h("div", { class: "field" }, h("label", { for: "search-text" }, t("Look for")), input),
    h("button", { type: "submit", class: "primary" }, t("Search")),
    hint,
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("/admin/users", { by: select.value, text: input.value.trim() });
  });
  return element;
}

/** @param {AdminUser[]} users */
export function accountsTable(users) {
  return table(
    t("Accounts"),
    [
      [t("Account"), (user) => [link(accountPlace(user.id), fromOutside(tagOf(user))), user.global_name ? h("div", { class: "muted from-outside" }, user.global_name) : null]],
      ["ID", (user) => code(user.id)],
      [t("Email"), (user) => (user.email ? fromOutside(user.email) : h("span", { class: "muted" }, "–"))],
      [t("Made"), (user) => inZone(madeAt(user.id))],
      [t("Last active"), (user) => (user.last_active_at ? fromNow(user.last_active_at) : "–")],
      [t("State"), (user) => stateTags(user)],
    ],
    users,
    { empty: t("No account fits.") },
  );
}

/**
 * What one has to know of an account at a glance.
 * @param {AdminUser} user
 */
export function stateTags(user) {
  const tags = [
    user.bot ? tag(t("bot")) : null,
    user.system ? tag(t("system")) : null,
    user.acls.length > 0 ? tag(t("administrator")) : null,
    user.temp_banned_until ? tag(t("banned"), "off") : null,
    !user.temp_banned_until && hasFlag(user, "DISABLED") ? tag(t("disabled"), "off") : null,
    user.pending_deletion_at ? tag(t("deletion scheduled"), "off") : null,
    hasFlag(user, "DELETED") ? tag(t("deleted"), "off") : null,
    hasFlag(user, "SPAMMER") ? tag(t("spammer"), "off") : null,
    hasFlag(user, "ACCOUNT_LIMITED") ? tag(t("limited"), "off") : null,
  ].filter((one) => one !== null);
  return tags.length === 0 ? tag(t("in order")) : h("span", { class: "tags" }, tags);
}
