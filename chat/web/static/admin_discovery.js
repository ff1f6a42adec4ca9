// Guilds that want to be found by everybody, and deciding on it.

import { h } from "../client/base/dom.js";
import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { accountLink, facts, fromOutside, guildPlace, link, muted, pager, plain } from "./admin_parts.js";
import { again, go, look } from "./admin_places.js";
import { inWords } from "./admin_registries.js";
import { ask } from "./admin_session.js";
import { plural, t } from "./spoken.js";

const LIMIT = 50;
/** @typedef {"approveDiscovery" | "rejectDiscovery" | "removeFromDiscovery"} Decision */

/** @type {Record<string, Decision[]>} */
const DECISIONS = { pending: ["approveDiscovery", "rejectDiscovery"], approved: ["removeFromDiscovery"] };
const STATUSES = ["pending", "approved", "rejected", "removed"];

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showDiscovery({ search, signal }) {
  const status = search.get("status") ?? "pending";
  const offset = Math.max(0, Number.parseInt(search.get("offset") ?? "0", 10) || 0);
  const { applications, total } = await ask(READS.discovery, { query: { status, limit: LIMIT, offset }, signal });
  const select = h("select", { id: "discovery-status" }, STATUSES.map((one) => h("option", { value: one, selected: one === status }, inWords(one))));
  select.addEventListener("change", () => go("/admin/discovery", { status: select.value }));
  return {
    title: t("Discovery"),
    content: [
      h("div", { class: "card search" }, h("div", { class: "field" }, h("label", { for: "discovery-status" }, t("Applications that are")), select)),
      h("h2", { id: "results", class: "results", tabindex: "-1" }, plural(total, "{n} application", "{n} applications")),
      applications.length === 0 ? muted(t("There is none.")) : applications.map(shown),
      pager({ offset, limit: LIMIT, total, go: (to) => look({ status, offset: to || null }) }),
    ],
  };
}

/** @param {import("wire").Answer<"GET", "/v1/admin/discovery/applications">["applications"][number]} application */
function shown(application) {
  const { guild_id: id, status, guild, applied_by: by, reviewed_by: reviewer, ...rest } = application;
  const act = (/** @type {Decision} */ name) => {
    /** @type {import("./admin_dialog.js").Action<{params: Record<string, string>}, never>} */
    const action = OTHER_ACTIONS[name];
    return actionButton(`${name}-${id}`, action, { params: { guild_id: id } }, again);
  };
  const told = (/** @type {string} */ name, /** @type {string} */ value) =>
    /** @type {const} */ ([inWords(name), h("span", { class: "reason from-outside" }, value)]);
  const decisions = DECISIONS[status] ?? [];
  return h(
    "section",
    { class: "card", "aria-label": guild?.name ?? id },
    h("h2", {}, link(guildPlace(id), fromOutside(guild?.name ?? id))),
    facts(
      ...Object.entries(rest).map(([name, value]) => told(name, plain(value))),
      by ? [inWords("applied_by"), accountLink(by.id, by)] : null,
      reviewer ? [inWords("reviewed_by"), accountLink(reviewer.id, reviewer)] : null,
    ),
    h("div", { class: "buttons" }, decisions.map(act)),
  );
}
