// What was done to a guild, and by whom.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { full } from "../../words/dates.js";
import { plainName } from "../../views/names/people.js";

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
  14: () => t("audit.overwrite"),
  15: () => t("audit.overwrite"),
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
};

/** @param {App} app @param {string} guildId */
export function auditLogPage(app, guildId) {
  const { acts } = app;
  const list = h("ol", { class: "guild-set-rows" });
  const more = h("button", { type: "button", class: "button", hidden: "", click: () => void load() }, t("search.more"));
  const element = h("div", { class: "guild-set-card" }, list, more);
  /** @type {any[]} */
  let entries = [];
  /** @type {Map<string, any>} */
  const users = new Map();

  async function load() {
    try {
      const log = await acts.guildSettings.auditLog(guildId, entries.at(-1)?.id);
      for (const user of log.users) users.set(user.id, user);
      entries = [...entries, ...log.audit_log_entries];
      more.hidden = log.audit_log_entries.length < PAGE;
      fill(list, ...(entries.length > 0 ? entries.map(row) : [h("li", { class: "muted" }, t("audit.none"))]));
    } catch (error) {
      app.report(error);
    }
  }

  /** @param {any} entry */
  function row(entry) {
    const user = users.get(entry.user_id);
    const name = plainName(user?.global_name || user?.username || "");
    const what = ACTIONS[entry.action_type]?.() ?? t("audit.other", { n: entry.action_type });
    const at = Number((BigInt(entry.id) >> 22n) + EPOCH_MS);
    const target = users.get(entry.target_id);
    const whom = target ? [" ", h("bdi", {}, plainName(target.global_name || target.username))] : [];
    const reason = entry.reason ? [h("span", { class: "small" }, h("bdi", {}, entry.reason))] : [];
    return h(
      "li",
      {},
      h(
        "span",
        { class: "panel-words" },
        h("span", {}, h("strong", {}, h("bdi", {}, name)), ` ${what}`, ...whom),
        ...reason,
        h("span", { class: "meta" }, full(at)),
      ),
    );
  }

  void load();
  return { element };
}
