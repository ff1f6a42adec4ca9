// What administrators did: searching the audit log, and one entry of it.

import { h } from "../client/base/dom.js";
import { READS } from "./admin_operations.js";
import { accountLink, accountPlace, card, code, entryPlace, facts, fromOutside, guildPlace, inZone, jobPlace, link, pager, table } from "./admin_parts.js";
import { go, look, results, searchedBy } from "./admin_places.js";
import { ACCOUNT_TARGETS, AUDIT_TARGETS, inWords } from "./admin_registries.js";
import { ask } from "./admin_session.js";
import { plural, t } from "./spoken.js";

const LIMIT = 50;
/** @typedef {import("wire").AdminAuditLogEntry} Entry */
/** @typedef {import("../client/base/dom.js").Child} Child */
/** @typedef {Record<string, import("../client/base/dom.js").Attribute>} Attributes */

const NAMES = ["q", "admin_user_id", "target_type", "target_id", "sort_by", "sort_order"];

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showAuditLog({ search, signal }) {
  const wanted = Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ""]));
  const offset = Math.max(0, Number.parseInt(search.get("offset") ?? "0", 10) || 0);
  const found = async () => {
    const { logs, total } = await ask(READS.auditLog, { query: { ...wanted, limit: LIMIT, offset }, signal });
    return [
      h("h2", { id: "results", class: "results", tabindex: "-1" }, plural(total, "{n} entry", "{n} entries")),
      entriesTable(logs),
      pager({ offset, limit: LIMIT, total, go: (to) => look({ ...wanted, offset: to || null }) }),
    ];
  };
  return { title: t("Audit log"), content: [form(wanted), h("div", {}, await results(found))] };
}

/** @param {Record<string, string>} wanted */
function form(wanted) {
  const input = (/** @type {string} */ name, /** @type {string} */ label, /** @type {Attributes} */ more = {}) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: `log-${name}` }, label),
      h("input", { id: `log-${name}`, name, type: "search", value: wanted[name], autocomplete: "off", maxlength: "1024", ...more }),
    );
  /** @type {(name: string, label: string, options: string[][]) => HTMLElement} */
  const select = (name, label, options) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: `log-${name}` }, label),
      h("select", { id: `log-${name}`, name }, options.map(([value, words]) => h("option", { value, selected: value === wanted[name] }, words))),
    );
  const element = h(
    "form",
    { class: "card search", role: "search", "aria-label": t("Audit log") },
    input("q", t("Words")),
    input("admin_user_id", t("Administrator (ID)"), { inputmode: "numeric", pattern: "[0-9]*" }),
    select("target_type", t("About"), [["", t("anything")], ...AUDIT_TARGETS.map((name) => [name, inWords(name)])]),
    input("target_id", t("ID of what it is about")),
    select("sort_by", t("Sorted by"), [["", t("time")], ["relevance", t("how well it fits")]]),
    select("sort_order", t("Order"), [["", t("newest or best first")], ["asc", t("the other way round")]]),
    h("button", { type: "submit", class: "primary" }, t("Search")),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("/admin/audit-log", searchedBy(element));
  });
  return element;
}

/**
 * @param {Entry[]} entries
 * @param {{about?: boolean}} [options]
 */
export function entriesTable(entries, { about = true } = {}) {
  /** @type {[string, (entry: Entry) => Child][]} */
  const of = about ? [[t("About"), target]] : [];
  return table(
    t("Audit log"),
    [
      [t("When"), (entry) => link(entryPlace(entry.log_id), inZone(entry.created_at))],
      [t("Who"), (entry) => accountLink(entry.admin_user_id, entry.admin_user)],
      [t("What"), (entry) => h("strong", {}, inWords(entry.action))],
      ...of,
      [t("Reason and details"), (entry) => summary(entry)],
    ],
    entries,
    { empty: t("No entry fits.") },
  );
}

/** @param {Entry} entry */
function summary(entry) {
  const details = Object.entries(entry.metadata);
  return [
    entry.audit_log_reason ? h("div", { class: "reason from-outside" }, entry.audit_log_reason) : null,
    details.length > 0 ? h("details", {}, h("summary", {}, plural(details.length, "{n} detail", "{n} details")), metadata(entry)) : null,
    !entry.audit_log_reason && details.length === 0 ? "–" : null,
  ].filter((part) => part !== null);
}

/** @param {Entry} entry */
function target(entry) {
  const { target_type: type, target_id: id } = entry;
  if (id === "0") return inWords(type);
  if (ACCOUNT_TARGETS.includes(type)) return accountLink(id, entry.target_user);
  if (type === "guild") return link(guildPlace(id), entry.target_guild ? fromOutside(entry.target_guild.name) : code(id));
  return [inWords(type), " ", h("span", { class: "code from-outside" }, id)];
}

/**
 * The details, with links where they name an account, a guild or a job.
 * @param {Entry} entry
 */
function metadata(entry) {
  return facts(...Object.entries(entry.metadata).map(([name, value]) => /** @type {const} */ ([inWords(name), linked(entry, name, value)])));
}

/**
 * @param {Entry} entry
 * @param {string} name
 * @param {string} value
 */
function linked(entry, name, value) {
  if (value in entry.related_users) return accountLink(value, entry.related_users[value]);
  if (value in entry.related_guilds) return link(guildPlace(value), fromOutside(entry.related_guilds[value]?.name ?? value));
  if (value in entry.related_channels) return [fromOutside(entry.related_channels[value]?.name ?? t("channel")), " ", code(value)];
  if (name === "job_id") return link(jobPlace(value), code(value));
  if (name === "ban_audit_log_id") return link(entryPlace(value), code(value));
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value)) return inZone(value);
  return fromOutside(value);
}

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showAuditLogEntry({ params, signal }) {
  const entry = await ask(READS.auditLogEntry, { params, signal });
  const isAccount = ACCOUNT_TARGETS.includes(entry.target_type) && entry.target_id !== "0";
  return {
    title: inWords(entry.action),
    content: [
      card(
        t("Entry"),
        facts(
          [t("When"), inZone(entry.created_at)],
          [t("Who"), accountLink(entry.admin_user_id, entry.admin_user)],
          [t("Action"), code(entry.action)],
          [t("About"), target(entry)],
          entry.target_channel ? [t("Channel"), [fromOutside(entry.target_channel.name ?? "–"), " ", code(entry.target_channel.id)]] : null,
          [t("Reason"), entry.audit_log_reason ? h("span", { class: "reason from-outside" }, entry.audit_log_reason) : ""],
          [t("Entry ID"), code(entry.log_id)],
        ),
      ),
      card(t("Details"), Object.keys(entry.metadata).length > 0 ? metadata(entry) : h("p", { class: "muted" }, t("None."))),
      h(
        "p",
        { class: "buttons" },
        isAccount ? link(accountPlace(entry.target_id), t("To the account")) : null,
        link(`/admin/audit-log#${new URLSearchParams({ target_id: entry.target_id })}`, t("Everything about the same")),
      ),
    ],
  };
}
