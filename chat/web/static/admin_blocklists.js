// What nobody may use on the instance: one list for each kind of thing.

import { actionButton } from "./admin_dialog.js";
import { BLOCKLISTS, READS, blocklistRead } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { accountLink, fromOutside, growing, inZone, table } from "./admin_parts.js";
import { again } from "./admin_places.js";
import { ask, may } from "./admin_session.js";
import { h } from "./dom.js";
import { plural, t } from "./spoken.js";

const LIMIT = 100;

export async function showBlocklist({ params, signal }) {
  const readable = BLOCKLISTS.filter(([name]) => may(READS[blocklistRead(name)]));
  const [name, words] = readable.find(([one]) => one === params.list) ?? readable[0] ?? BLOCKLISTS[0];
  const act = (kind, context = {}) => actionButton(`${kind}_${name}${context.value ? `-${context.value}` : ""}`, OTHER_ACTIONS[`${kind}_${name}`], context, kind === "check" ? null : again);
  const next = async (after) => {
    const page = await ask(READS[blocklistRead(name)], { query: { after, limit: LIMIT }, signal });
    return { rows: page.entries, cursor: page.next_after, total: page.total };
  };
  const first = await next(undefined);
  const show = (rows) =>
    table(
      words,
      [
        [t("Blocked"), (entry) => h("strong", { class: "from-outside" }, entry.value)],
        [t("Why"), (entry) => (entry.reason ? h("span", { class: "reason from-outside" }, entry.reason) : "–")],
        [t("By"), (entry) => accountLink(entry.added_by)],
        [t("Since"), (entry) => inZone(entry.added_at)],
        [t("Actions"), (entry) => act("remove", { value: entry.value })],
      ],
      rows,
      { empty: t("Nothing is blocked.") },
    );
  const item = ([one, label]) => h("li", {}, h("a", { href: `/admin/blocklists/${one}`, "aria-current": one === name ? "page" : null }, label));
  return {
    title: t("Blocklists"),
    lead: h("nav", { class: "tabs", "aria-label": t("Blocklists") }, h("ul", {}, readable.map(item))),
    content: [
      h("div", { class: "buttons above" }, act("add"), act("check")),
      h("h2", { id: "results", class: "results", tabindex: "-1" }, `${words}: ${plural(first.total, "{n} entry", "{n} entries")}`),
      growing(first, show, next),
    ],
  };
}
