// Guilds that want to be found by everybody, and deciding on it.

import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { facts, fromOutside, guildPlace, link, muted, pager, plain } from "./admin_parts.js";
import { again, go, look } from "./admin_places.js";
import { inWords } from "./admin_registries.js";
import { ask } from "./admin_session.js";
import { h } from "./dom.js";
import { plural, t } from "./spoken.js";

const LIMIT = 50;
const STATUSES = ["pending", "approved", "rejected", "removed"];

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

function shown(application) {
  const { guild_id: id, status, ...rest } = application;
  const act = (name) => actionButton(`${name}-${id}`, OTHER_ACTIONS[name], { params: { guild_id: id } }, again);
  const decisions = { pending: ["approveDiscovery", "rejectDiscovery"], approved: ["removeFromDiscovery"] }[status] ?? [];
  return h(
    "section",
    { class: "card", "aria-label": rest.guild_name ?? id },
    h("h2", {}, link(guildPlace(id), fromOutside(rest.guild_name ?? rest.guild?.name ?? id))),
    facts(...Object.entries(rest).map(([name, value]) => [inWords(name), h("span", { class: "reason from-outside" }, plain(value))])),
    h("div", { class: "buttons" }, decisions.map(act)),
  );
}
