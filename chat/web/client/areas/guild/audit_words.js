// What an entry of the audit log is about, and what changed, in words: names for ids, "yes" for true, times as times.

import { t } from "../../words/catalogue.js";
import { full, listOf, number } from "../../words/dates.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { plainName } from "../../views/names/people.js";
import { PERMISSIONS } from "./permission_words.js";

/**
 * @typedef {object} Where
 * @property {import("../../store/store.js").Store} store
 * @property {string} guildId
 * @property {(id: string) => string} nameOfUser
 */
/** @typedef {(value: any, where: Where) => string | null} Say null: nothing. A key says what its value is. */
/** @typedef {{label: string, before: string | null, after: string | null}} Change */

const MINUTE_S = 60;

/** @type {Say} */
const text = (value) => (value === null || value === "" ? null : plainName(String(value)));
/** @type {Say} */
const yes = (value) => (value ? t("audit.yes") : t("audit.no"));
/** @type {Say} */
const channel = (value, where) => (value === null ? null : channelName(value, where));
/** @type {Say} */
const person = (value, { nameOfUser }) => (value === null ? null : nameOfUser(value));
/** @type {Say} */
const moment = (value) => (value === null ? null : full(Date.parse(value)));
/** @type {Say} */
const duration = (value) => {
  if (!value) return null;
  return value % MINUTE_S ? t("settings.seconds", { n: value }) : t("moderation.minutes", { n: value / MINUTE_S });
};
/** @type {Say} */
const colour = (value) => (value ? `#${Number(value).toString(16).padStart(6, "0")}` : null);
/** @type {Say} */
const count = (value) => (value === null ? null : number(Number(value)));
/** @type {Say} */
const age = (value) => {
  if (value === null) return null;
  return value === 0 ? t("settings.kept_always") : t("moderation.days", { n: Number(value) });
};
/** @type {Say} */
const picture = (value) => (value === null ? null : t("audit.picture"));
/** @type {Say} */
const rights = (value) => {
  const mask = BigInt(value ?? 0);
  const all = PERMISSIONS.flatMap(({ entries }) => entries).filter(([bit]) => (mask & bit) === bit);
  return all.length === 0 ? null : listOf(all.map(([, words]) => words()));
};
/** @type {Say} */
const roles = (value) => {
  const all = /** @type {import("wire").Role[]} */ (value ?? []);
  return all.length === 0 ? null : listOf(all.map(({ name }) => plainName(name)));
};

/**
 * What the log can name, with its words and how its values are said. Of the rest an entry says that it changed.
 * @type {Readonly<Record<string, [() => string, Say]>>}
 */
const KEYS = {
  $add: [() => t("audit.roles_added"), roles],
  $remove: [() => t("audit.roles_removed"), roles],
  afk_channel_id: [() => t("audit.afk_channel"), channel],
  afk_timeout: [() => t("audit.afk_timeout"), duration],
  allow: [() => t("audit.allow"), rights],
  archived: [() => t("audit.archived"), yes],
  auto_archive_duration: [() => t("audit.auto_archive"), (value) => duration(value * MINUTE_S, EMPTY)],
  avatar_hash: [() => t("new_guild.picture"), picture],
  banner_hash: [() => t("audit.banner"), picture],
  bitrate: [() => t("audit.bitrate"), count],
  channel_id: [() => t("webhooks.channel"), channel],
  code: [() => t("new_guild.code"), text],
  color: [() => t("roles.colour"), colour],
  communication_disabled_until: [() => t("audit.time_out"), moment],
  deaf: [() => t("audit.deaf"), yes],
  deny: [() => t("audit.deny"), rights],
  description: [() => t("audit.description"), text],
  hoist: [() => t("roles.hoist"), yes],
  icon_hash: [() => t("new_guild.picture"), picture],
  inviter_id: [() => t("audit.inviter"), person],
  locked: [() => t("audit.locked"), yes],
  max_age: [() => t("invite.lasting"), duration],
  max_uses: [() => t("audit.max_uses"), count],
  mentionable: [() => t("roles.mentionable"), yes],
  message_retention_days: [() => t("settings.kept"), age],
  mute: [() => t("audit.mute"), yes],
  name: [() => t("new_guild.name"), text],
  nick: [() => t("person.nick"), text],
  nsfw: [() => t("settings.adult"), yes],
  owner_id: [() => t("members.owner"), person],
  parent_id: [() => t("settings.category"), channel],
  permissions: [() => t("audit.permissions"), rights],
  position: [() => t("audit.position"), count],
  rate_limit_per_user: [() => t("settings.slow"), duration],
  splash_hash: [() => t("audit.splash"), picture],
  system_channel_id: [() => t("settings.system"), channel],
  tags: [() => t("audit.tags"), text],
  temporary: [() => t("audit.temporary"), yes],
  topic: [() => t("settings.topic"), text],
  url: [() => t("audit.address"), text],
  user_limit: [() => t("audit.user_limit"), count],
  vanity_url_code: [() => t("audit.vanity"), text],
};
const EMPTY = /** @type {Where} */ (/** @type {unknown} */ ({}));

/** Of what was made or is gone these say what it was. */
const TELLING = new Set(["channel_id", "parent_id", "allow", "deny", "$add", "$remove"]);

/** Actions on members, on their messages, and others by their tens. */
const ON_PEOPLE = new Set([20, 22, 23, 24, 25, 26, 27, 28, 72, 74, 75]);

/**
 * The name of what an entry is about; nothing where the action says it.
 * @param {import("wire").AuditLogEntry} entry
 * @param {Where} where
 * @returns {string}
 */
export function objectOf(entry, where) {
  const { action_type: action, changes = [] } = entry;
  const options = /** @type {Record<string, string | undefined>} */ (entry.options ?? {});
  const id = entry.target_id ?? "";
  const said = (/** @type {string} */ key) => {
    const change = changes.find((one) => one.key === key);
    return `${change?.new_value ?? change?.old_value ?? ""}`;
  };
  const within = options.channel_id ? channelName(options.channel_id, where) : "";
  if (ON_PEOPLE.has(action)) return [id ? where.nameOfUser(id) : "", within].filter((part) => part !== "").join(", ");
  if (action === 73) return within || channelName(id, where);
  const guild = where.store.read.guilds.get(where.guildId);
  if (action >= 13 && action <= 15) {
    const whom = options.role_name ? plainName(options.role_name) : where.nameOfUser(options.id ?? "");
    return t("audit.for", { channel: channelName(id, where), whom });
  }
  if (action >= 30 && action <= 32) return plainName(guild?.roles.get(id)?.name ?? (said("name") || id));
  if (action >= 40 && action <= 42) return [said("code"), within].filter((part) => part !== "").join(", ");
  if ((action >= 10 && action <= 12) || (action >= 110 && action <= 112)) {
    return where.store.read.channels.has(id) ? channelName(id, where) : plainName(said("name") || id);
  }
  if (action === 1 || action === 21) return "";
  return said("name") && plainName(said("name"));
}

/**
 * @param {import("wire").AuditLogEntry} entry
 * @param {Where} where
 * @returns {Change[]}
 */
export function changesOf({ changes = [] }, where) {
  /** @type {Change[]} */
  const said = [];
  const has = (/** @type {object} */ change, /** @type {string} */ side) => side in change;
  const isWhole = changes.length > 2 && changes.every((one) => !has(one, "old_value"));
  for (const change of changes) {
    const { key } = change;
    if (!has(change, "new_value") || (isWhole && !TELLING.has(key))) continue;
    const [words, say] = KEYS[key] ?? [() => key.replaceAll("_", " "), () => t("audit.changed")];
    const after = say(change.new_value, where);
    const before = has(change, "old_value") ? say(change.old_value, where) : null;
    if (before === null && after === null) continue;
    said.push({ label: words(), before: key in KEYS ? before : null, after });
  }
  return said;
}

/** @param {string} id @param {Where} where */
function channelName(id, { store }) {
  const found = store.read.channels.get(id);
  return found ? `#${nameOfChannel(store.read, found)}` : t("message.unknown_channel");
}
