// The first page: who is acting, what goes on, what happened last.

import { h } from "../client/base/dom.js";
import { entriesTable } from "./admin_audit_log.js";
import { historyCard } from "./admin_charts.js";
import { figuresCard } from "./admin_instance.js";
import { jobsTable } from "./admin_jobs.js";
import { nodesCard } from "./admin_nodes.js";
import { READS } from "./admin_operations.js";
import { card, code, facts, fromOutside, link, muted, tagOf } from "./admin_parts.js";
import { go } from "./admin_places.js";
import { administrator, ask, may } from "./admin_session.js";
import { plural, t } from "./spoken.js";

const LATEST = 8;

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showOverview({ signal }) {
  const [jobs, log] = await Promise.all([
    may(READS.jobs) ? ask(READS.jobs, { query: { limit: LATEST }, signal }) : null,
    may(READS.auditLog) ? ask(READS.auditLog, { query: { limit: LATEST }, signal }) : null,
  ]);
  return {
    title: t("Administration"),
    content: [
      may(READS.accounts) ? quickSearch() : null,
      may(READS.figures) ? await figuresCard(signal) : null,
      may(READS.gatewayNodes) ? await nodesCard(signal) : null,
      may(READS.history) ? await historyCard(signal) : null,
      you(),
      jobs ? card(t("Jobs"), jobsTable(jobs.jobs), h("p", {}, link("/admin/jobs", t("All jobs")))) : null,
      log ? card(t("Latest in the audit log"), entriesTable(log.logs), h("p", {}, link("/admin/audit-log", t("The whole audit log")))) : null,
    ],
  };
}

function quickSearch() {
  const input = h("input", { id: "quick-search", type: "search", name: "text", autocomplete: "off", maxlength: "1024", required: true });
  const form = h(
    "form",
    { class: "card search", role: "search", "aria-label": t("Accounts") },
    h("div", { class: "field" }, h("label", { for: "quick-search" }, t("Find an account")), input),
    h("button", { type: "submit", class: "primary" }, t("Search")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go("/admin/users", { by: "q", text: input.value.trim() });
  });
  return form;
}

function you() {
  const me = administrator();
  const all = me.acls.includes("*");
  return card(
    t("You"),
    facts([t("Signed in as"), fromOutside(tagOf(me))], ["ID", code(me.id)], [t("May do"), all ? t("everything") : plural(me.acls.length, "{n} thing", "{n} things")]),
    all
      ? null
      : h("details", {}, h("summary", {}, t("Your permissions")), h("ul", { class: "columns" }, me.acls.map((acl) => h("li", {}, code(acl))))),
    muted(t("Whatever you do here is recorded in the audit log under your name, reading included.")),
  );
}
