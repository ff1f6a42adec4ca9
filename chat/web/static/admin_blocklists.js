// What nobody may use on the instance: one list for each kind of thing.

import { h } from "../client/base/dom.js";
import { actionButton } from "./admin_dialog.js";
import { BLOCKLISTS, blocklistRead } from "./admin_operations.js";
import { BLOCKLIST_ACTIONS } from "./admin_other_actions.js";
import { accountLink, growing, inZone, table } from "./admin_parts.js";
import { again } from "./admin_places.js";
import { ask, may } from "./admin_session.js";
import { plural, t } from "./spoken.js";

const LIMIT = 100;

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showBlocklist({ params, signal }) {
  const readable = BLOCKLISTS.filter(([name]) => may(blocklistRead(name)));
  const [name, words] = readable.find(([one]) => one === params["list"]) ?? readable[0] ?? BLOCKLISTS[0];
  const { add, check, remove } = BLOCKLIST_ACTIONS;
  const next = async (/** @type {string | undefined} */ after) => {
    const page = await ask(blocklistRead(name), { query: { after, limit: LIMIT }, signal });
    return { rows: page.entries, cursor: page.next_after, total: page.total };
  };
  const first = await next(undefined);
  const show = (/** @type {import("wire").BlockedValue[]} */ rows) =>
    table(
      words,
      [
        [t("Blocked"), (entry) => h("strong", { class: "from-outside" }, entry.value)],
        [t("Why"), (entry) => (entry.reason ? h("span", { class: "reason from-outside" }, entry.reason) : "–")],
        [t("By"), (entry) => accountLink(entry.added_by)],
        [t("Since"), (entry) => inZone(entry.added_at)],
        [t("Actions"), (entry) => actionButton(`remove_${name}-${entry.value}`, remove[name], { value: entry.value }, again)],
      ],
      rows,
      { empty: t("Nothing is blocked.") },
    );
  const item = (/** @type {typeof BLOCKLISTS[number]} */ [one, label]) => h("li", {}, h("a", { href: `/admin/blocklists/${one}`, "aria-current": one === name ? "page" : null }, label));
  return {
    title: t("Blocklists"),
    lead: h("nav", { class: "tabs", "aria-label": t("Blocklists") }, h("ul", {}, readable.map(item))),
    content: [
      h("div", { class: "buttons above" }, actionButton(`add_${name}`, add[name], {}, again), actionButton(`check_${name}`, check[name], {})),
      h("h2", { id: "results", class: "results", tabindex: "-1" }, `${words}: ${plural(first.total, "{n} entry", "{n} entries")}`),
      growing(first, show, next),
    ],
  };
}
