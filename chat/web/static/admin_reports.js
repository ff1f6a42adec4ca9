// What people reported, and resolving it.

import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { accountLink, card, code, count, facts, fromOutside, guildPlace, inZone, link, pager, plain, table, tag } from "./admin_parts.js";
import { again, go, look, results } from "./admin_places.js";
import { REPORT_CATEGORIES, REPORT_KINDS, inWords } from "./admin_registries.js";
import { ask } from "./admin_session.js";
import { h } from "./dom.js";

const LIMIT = 50;
const NAMES = ["q", "status", "category", "kind", "reported_user_id", "reporter_id", "guild_id"];
const ANY = "any";

export async function showReports({ search, signal }) {
  const wanted = Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ""]));
  const status = wanted.status === "" ? "pending" : wanted.status === ANY ? "" : wanted.status;
  const offset = Math.max(0, Number.parseInt(search.get("offset") ?? "0", 10) || 0);
  const found = async () => {
    const { reports, total } = await ask(READS.reports, { query: { ...wanted, status, limit: LIMIT, offset }, signal });
    return [
      h("h2", { id: "results", class: "results", tabindex: "-1" }, count(total, "report")),
      table(
        "Reports",
        [
          ["When", (report) => link(`/admin/reports/${report.report_id}`, inZone(report.created_at))],
          ["About", (report) => [inWords(report.kind), " ", subject(report)]],
          ["As", (report) => inWords(report.category)],
          ["Says", (report) => (report.additional_info ? fromOutside(report.additional_info) : "–")],
          ["State", (report) => tag(report.status, report.status === "pending" ? "off" : "")],
        ],
        reports,
        { empty: "No report fits." },
      ),
      pager({ offset, limit: LIMIT, total, go: (to) => look({ ...wanted, offset: to || null }) }),
    ];
  };
  return { title: "Reports", content: [form(wanted), h("div", {}, await results(found))] };
}

function subject(report) {
  if (report.kind === "guild") return report.guild_id ? link(guildPlace(report.guild_id), fromOutside(report.guild_name ?? report.guild_id)) : "–";
  return accountLink(report.reported_user_id, report.reported_user);
}

function form(wanted) {
  const input = (name, label, more = {}) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: `reports-${name}` }, label),
      h("input", { id: `reports-${name}`, name, type: "search", value: wanted[name], autocomplete: "off", maxlength: "1024", ...more }),
    );
  const select = (name, label, options) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: `reports-${name}` }, label),
      h("select", { id: `reports-${name}`, name }, options.map(([value, words]) => h("option", { value, selected: value === wanted[name] }, words))),
    );
  const element = h(
    "form",
    { class: "card search", role: "search", "aria-label": "Reports" },
    select("status", "State", [["", "pending"], ["resolved", "resolved"], [ANY, "any"]]),
    select("kind", "About", [["", "anything"], ...REPORT_KINDS.map((name) => [name, inWords(name)])]),
    select("category", "As", [["", "anything"], ...REPORT_CATEGORIES.map((name) => [name, inWords(name)])]),
    input("q", "Words"),
    input("reported_user_id", "Reported account (ID)", { inputmode: "numeric" }),
    input("reporter_id", "Made by (ID)", { inputmode: "numeric" }),
    input("guild_id", "Guild (ID)", { inputmode: "numeric" }),
    h("button", { type: "submit", class: "primary" }, "Search"),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("/admin/reports", Object.fromEntries(NAMES.map((name) => [name, element.elements[name].value.trim()])));
  });
  return element;
}

export async function showReport({ params, signal }) {
  const report = await ask(READS.report, { params, signal });
  const pending = report.status === "pending";
  const message = report.message;
  return {
    title: `Report of a ${report.kind === "user" ? "person" : report.kind}`,
    content: [
      card(
        "Report",
        facts(
          ["State", tag(report.status, pending ? "off" : "")],
          ["About", [inWords(report.kind), " ", subject(report)]],
          ["As", inWords(report.category)],
          ["Says", report.additional_info ? h("span", { class: "reason from-outside" }, report.additional_info) : ""],
          report.guild_id ? ["Guild", link(guildPlace(report.guild_id), fromOutside(report.guild_name ?? report.guild_id))] : null,
          report.channel_id ? ["Channel", code(report.channel_id)] : null,
          report.message_id ? ["Message", link(`/admin/messages#message_id=${report.message_id}`, code(report.message_id))] : null,
          ["Made", inZone(report.created_at)],
          ["Made by", report.reporter_id ? accountLink(report.reporter_id, report.reporter) : h("span", { class: "muted" }, "hidden from you, or nobody who has an account")],
          report.reporter_email ? ["Reporter's address", fromOutside(report.reporter_email)] : null,
          report.reporter_full_legal_name ? ["Reporter's name", fromOutside(report.reporter_full_legal_name)] : null,
          report.reporter_country_of_residence ? ["Reporter's country", fromOutside(report.reporter_country_of_residence)] : null,
          pending ? null : ["Resolved", [inZone(report.resolved_at), " by ", accountLink(report.resolved_by, report.resolver)]],
          report.public_comment ? ["The reporter was told", fromOutside(report.public_comment)] : null,
          ["Report ID", code(report.report_id)],
        ),
        pending ? h("div", { class: "buttons" }, actionButton("resolveReport", OTHER_ACTIONS.resolveReport, { params }, again)) : null,
      ),
      message ? evidence(message) : null,
    ],
  };
}

// The message as it was when it was reported: what matters first, then all of it.
function evidence(message) {
  const told = ([name, value]) => [inWords(name), h("span", { class: "reason from-outside" }, plain(value))];
  return card(
    "The message as it was",
    facts(
      ["By", message.author ? accountLink(message.author.id, message.author) : ""],
      ["Says", message.content ? h("span", { class: "reason from-outside" }, message.content) : ""],
      ["Sent", message.timestamp ? inZone(message.timestamp) : ""],
    ),
    h("details", {}, h("summary", {}, "All of it"), facts(...Object.entries(message).map(told))),
  );
}
