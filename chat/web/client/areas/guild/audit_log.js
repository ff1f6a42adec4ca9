// What was done to a guild: by whom, to which object, what it was before and what it is now; of one person or of one
// kind.

import { fill, h } from "../../base/dom.js";
import { load } from "../../views/settings/loading.js";
import { t, tn } from "../../words/catalogue.js";
import { full } from "../../words/dates.js";
import { plainName } from "../../views/names/people.js";
import { changesOf, objectOf } from "./audit_words.js";
import { field, select } from "./fields.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const EPOCH_MS = 1_420_070_400_000n;
const PAGE = 50;

/**
 * Actions by their numbers (guilds.md, Audit log).
 * @type {Readonly<Record<number, () => string>>}
 */
const ACTIONS = {
  1: () => t("audit.guild_update"),
  10: () => t("audit.channel_create"),
  11: () => t("audit.channel_update"),
  12: () => t("audit.channel_delete"),
  13: () => t("audit.overwrite"),
  14: () => t("audit.overwrite_update"),
  15: () => t("audit.overwrite_delete"),
  20: () => t("audit.kick"),
  21: () => t("audit.prune"),
  22: () => t("audit.ban"),
  23: () => t("audit.unban"),
  24: () => t("audit.member_update"),
  25: () => t("audit.member_roles"),
  26: () => t("audit.member_move"),
  27: () => t("audit.member_disconnect"),
  28: () => t("audit.bot_add"),
  30: () => t("audit.role_create"),
  31: () => t("audit.role_update"),
  32: () => t("audit.role_delete"),
  40: () => t("audit.invite_create"),
  41: () => t("audit.invite_update"),
  42: () => t("audit.invite_delete"),
  50: () => t("audit.webhook_create"),
  51: () => t("audit.webhook_update"),
  52: () => t("audit.webhook_delete"),
  60: () => t("audit.emoji_create"),
  61: () => t("audit.emoji_update"),
  62: () => t("audit.emoji_delete"),
  72: () => t("audit.message_delete"),
  73: () => t("audit.message_bulk"),
  74: () => t("audit.pin"),
  75: () => t("audit.unpin"),
  90: () => t("audit.sticker_create"),
  91: () => t("audit.sticker_update"),
  92: () => t("audit.sticker_delete"),
  110: () => t("audit.thread_create"),
  111: () => t("audit.thread_update"),
  112: () => t("audit.thread_delete"),
  121: () => t("audit.command_permission_update"),
  1000: () => t("audit.placeholder_claim"),
  1001: () => t("audit.placeholder_release"),
};

/** @param {App} app @param {string} guildId */
export function auditLogPage(app, guildId) {
  const { acts, store } = app;
  const list = h("ol", { class: "guild-set-rows audit-rows" });
  const further = () => load(app, fetch);
  const more = h("button", { type: "button", class: "button", hidden: "", click: further }, t("search.more"));
  const who = select([["", t("audit.everybody")]], "");
  const kinds = Object.entries(ACTIONS).map(([type, words]) => /** @type {const} */ ([type, words()]));
  kinds.sort(([, one], [, other]) => one.localeCompare(other));
  const what = select([["", t("audit.everything")], ...kinds], "");
  const filters = h(
    "div",
    { class: "audit-filters" },
    field("audit-who", t("audit.who"), who),
    field("audit-what", t("audit.what"), what),
  );
  const element = h("div", { class: "guild-set-card" }, filters, list, more);
  /** @type {import("wire").AuditLogEntry[]} */
  let entries = [];
  /** @type {Map<string, import("wire").AuditLogUser>} those that the log names */
  const users = new Map();
  let asked = 0;

  async function fetch() {
    const mine = (asked += 1);
    const wish = { before: entries.at(-1)?.id, user_id: who.value || null, action_type: what.value || null };
    const log = await acts.guildSettings.auditLog(guildId, wish);
    // Another filter was chosen meanwhile.
    if (mine !== asked) return;
    for (const user of log.users) users.set(user.id, user);
    entries = [...entries, ...log.audit_log_entries];
    more.hidden = log.audit_log_entries.length < PAGE;
    for (const { user_id: id } of log.audit_log_entries) offer(id);
    fill(list, ...(entries.length > 0 ? entries.map(row) : [h("li", { class: "muted" }, t("audit.none"))]));
  }

  function again() {
    entries = [];
    load(app, fetch);
  }

  /** @param {string} id */
  function nameOfUser(id) {
    const user = users.get(id) ?? store.read.users.get(id);
    return user ? plainName(user.global_name || user.username) : id;
  }

  /** Somebody can be asked for who stands in the log. @param {string} id */
  function offer(id) {
    if ([...who.options].some(({ value }) => value === id)) return;
    who.append(h("option", { value: id }, nameOfUser(id)));
  }

  /** @param {import("wire").AuditLogEntry} entry */
  function row(entry) {
    const action = ACTIONS[entry.action_type]?.() ?? t("audit.other", { n: entry.action_type });
    const place = { store, guildId, nameOfUser };
    const object = objectOf(entry, place);
    const said = tn("audit.line", {
      name: h("strong", {}, nameOfUser(entry.user_id)),
      action: h("span", {}, action),
      object: h("strong", {}, object),
    });
    const changes = changesOf(entry, place).map(({ label, before, after }) =>
      h(
        "li",
        {},
        h("span", { class: "muted" }, `${label}: `),
        ...(before === null ? [] : [h("del", {}, h("bdi", {}, before)), " \u2192 "]),
        h("bdi", {}, after ?? t("settings.none")),
      ),
    );
    const words = h("span", { class: "panel-words" }, h("span", { class: "audit-line" }, ...said));
    if (changes.length > 0) words.append(h("ul", { class: "audit-changes small" }, ...changes));
    if (entry.reason) words.append(h("span", { class: "small" }, ...tn("audit.reason", { reason: entry.reason })));
    words.append(h("span", { class: "meta" }, full(Number((BigInt(entry.id) >> 22n) + EPOCH_MS))));
    return h("li", {}, words);
  }

  who.addEventListener("change", again);
  what.addEventListener("change", again);
  load(app, fetch);
  return { element };
}
