// What people reported, and resolving it.

import { h } from "../client/base/dom.js";
import { ACCOUNT_ACTIONS } from "./admin_account_actions.js";
import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { accountLink, card, code, facts, fromOutside, guildPlace, inZone, link, pager, plain, table, tag } from "./admin_parts.js";
import { again, go, look, results, searchedBy } from "./admin_places.js";
import { REPORT_CATEGORIES, REPORT_KINDS, inWords } from "./admin_registries.js";
import { ask, may } from "./admin_session.js";
import { plural, t, tn, translated } from "./spoken.js";

const LIMIT = 50;
/** @typedef {import("wire").Report} Report */
/** @typedef {{author?: {id: string, username: string, discriminator: string}, content?: string, timestamp?: string}} Evidence */

const NAMES = ["q", "status", "category", "kind", "reported_user_id", "reporter_id", "guild_id"];
const ANY = "any";
const TITLES = { user: t("Report of a person"), message: t("Report of a message"), guild: t("Report of a community") };

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showReports({ search, signal }) {
  const wanted = Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ""]));
  const chosen = wanted["status"];
  const status = chosen === "" ? "pending" : chosen === ANY ? "" : chosen;
  const offset = Math.max(0, Number.parseInt(search.get("offset") ?? "0", 10) || 0);
  const found = async () => {
    const { reports, total } = await ask(READS.reports, { query: { ...wanted, status, limit: LIMIT, offset }, signal });
    return [
      h("h2", { id: "results", class: "results", tabindex: "-1" }, plural(total, "{n} report", "{n} reports")),
      table(
        t("Reports"),
        [
          [t("When"), (report) => link(`/admin/reports/${report.report_id}`, inZone(report.created_at))],
          [t("About"), (report) => [inWords(report.kind), " ", subject(report)]],
          [t("As"), (report) => inWords(report.category)],
          [t("Says"), (report) => (report.additional_info ? fromOutside(report.additional_info) : "–")],
          [t("State"), (report) => tag(translated(report.status), report.status === "pending" ? "off" : "")],
        ],
        reports,
        { empty: t("No report fits.") },
      ),
      pager({ offset, limit: LIMIT, total, go: (to) => look({ ...wanted, offset: to || null }) }),
    ];
  };
  return { title: t("Reports"), content: [form(wanted), h("div", {}, await results(found))] };
}

/** @param {Report} report */
function subject(report) {
  if (report.kind === "guild") return report.guild_id ? link(guildPlace(report.guild_id), fromOutside(report.guild_name ?? report.guild_id)) : "–";
  return accountLink(report.reported_user_id, report.reported_user);
}

/** @param {Record<string, string>} wanted */
function form(wanted) {
  const input = (/** @type {string} */ name, /** @type {string} */ label, more = {}) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: `reports-${name}` }, label),
      h("input", { id: `reports-${name}`, name, type: "search", value: wanted[name], autocomplete: "off", maxlength: "1024", ...more }),
    );
  /** @type {(name: string, label: string, options: string[][]) => HTMLElement} */
  const select = (name, label, options) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: `reports-${name}` }, label),
      h("select", { id: `reports-${name}`, name }, options.map(([value, words]) => h("option", { value, selected: value === wanted[name] }, words))),
    );
  const element = h(
    "form",
    { class: "card search", role: "search", "aria-label": t("Reports") },
    select("status", t("State"), [["", t("pending")], ["resolved", t("resolved")], [ANY, t("any")]]),
    select("kind", t("About"), [["", t("anything")], ...REPORT_KINDS.map((name) => [name, inWords(name)])]),
    select("category", t("As"), [["", t("anything")], ...REPORT_CATEGORIES.map((name) => [name, inWords(name)])]),
    input("q", t("Words")),
    input("reported_user_id", t("Reported account (ID)"), { inputmode: "numeric" }),
    input("reporter_id", t("Made by (ID)"), { inputmode: "numeric" }),
    input("guild_id", t("Community (ID)"), { inputmode: "numeric" }),
    h("button", { type: "submit", class: "primary" }, t("Search")),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("/admin/reports", searchedBy(element));
  });
  return element;
}

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showReport({ params, signal }) {
  const report = await ask(READS.report, { params, signal });
  const pending = report.status === "pending";
  const message = report.message;
  return {
    title: TITLES[report.kind],
    content: [
      card(
        t("Report"),
        facts(
          [t("State"), tag(translated(report.status), pending ? "off" : "")],
          [t("About"), [inWords(report.kind), " ", subject(report)]],
          [t("As"), inWords(report.category)],
          [t("Says"), report.additional_info ? h("span", { class: "reason from-outside" }, report.additional_info) : ""],
          report.guild_id ? [t("Community"), link(guildPlace(report.guild_id), fromOutside(report.guild_name ?? report.guild_id))] : null,
          report.channel_id ? [t("Channel"), code(report.channel_id)] : null,
          report.message_id ? [t("Message"), link(`/admin/messages#message_id=${report.message_id}`, code(report.message_id))] : null,
          [t("Made"), inZone(report.created_at)],
          [t("Made by"), report.reporter_id ? accountLink(report.reporter_id, report.reporter) : h("span", { class: "muted" }, t("hidden from you, or nobody who has an account"))],
          report.reporter_email ? [t("Reporter's address"), fromOutside(report.reporter_email)] : null,
          report.reporter_full_legal_name ? [t("Reporter's name"), fromOutside(report.reporter_full_legal_name)] : null,
          report.reporter_country_of_residence ? [t("Reporter's country"), fromOutside(report.reporter_country_of_residence)] : null,
          pending ? null : [t("Resolved"), tn("{time} by {account}", { time: inZone(report.resolved_at), account: accountLink(report.resolved_by, report.resolver) })],
          report.public_comment ? [t("The reporter was told"), fromOutside(report.public_comment)] : null,
          [t("Report ID"), code(report.report_id)],
        ),
        h(
          "div",
          { class: "buttons" },
          pending ? actionButton("resolveReport", OTHER_ACTIONS.resolveReport, { params }, again) : null,
          measures(report),
        ),
      ),
      message ? evidence(message) : null,
    ],
  };
}

/**
 * What can be done about it at once: the message goes, and its author.
 * @param {Report} report
 */
function measures(report) {
  const { channel_id, message_id, reported_user_id: userId } = report;
  const remove =
    channel_id && message_id
      ? actionButton("deleteMessage", OTHER_ACTIONS.deleteMessage, { params: { channel_id, message_id } }, again)
      : null;
  const { reported_user: user } = report;
  if (!userId || !user || !may(ACCOUNT_ACTIONS.ban)) return [remove];
  const context = { params: { user_id: userId }, user: { ...user, temp_banned_until: null } };
  return [remove, actionButton("ban", ACCOUNT_ACTIONS.ban, context, again)];
}

/**
 * The message as it was when it was reported: what matters first, then all of it.
 * @param {Evidence} message
 */
function evidence(message) {
  const told = (/** @type {[string, unknown]} */ [name, value]) =>
    /** @type {const} */ ([inWords(name), h("span", { class: "reason from-outside" }, plain(value))]);
  return card(
    t("The message as it was"),
    facts(
      [t("By"), message.author ? accountLink(message.author.id, message.author) : ""],
      [t("Says"), message.content ? h("span", { class: "reason from-outside" }, message.content) : ""],
      [t("Sent"), message.timestamp ? inZone(message.timestamp) : ""],
    ),
    h("details", {}, h("summary", {}, t("All of it")), facts(...Object.entries(message).map(told))),
  );
}
