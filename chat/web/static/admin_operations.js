// Every operation of the Admin API that reads, as the console asks for it. Those that change something stand with their
// words and fields in admin_account_actions.js and admin_other_actions.js. `acls` names what a caller needs besides
// admin:authenticate; an entry that is a list is satisfied by any of its members. tests/web walks these tables against
// the operations that the server declares.

import { t } from "./spoken.js";

const ACCOUNT = "/v1/admin/users/{user_id}";
const GUILD = "/v1/admin/guilds/{guild_id}";
const ARCHIVE = "/v1/admin/archives/{subject_type}/{subject_id}/{archive_id}";
const ANY_ARCHIVE = /** @type {const} */ (["archive:view_all", "archive:trigger:user", "archive:trigger:guild"]);

/**
 * @template {string} Path
 * @param {Path} path
 * @param {...import("./admin_session.js").Acls[number]} acls
 * @returns {import("./admin_session.js").Operation<"GET", Path>}
 */
function read(path, ...acls) {
  return { method: "GET", path, acls };
}

export const READS = {
  ownAccount: read("/v1/admin/users/@me"),
  acls: read("/v1/admin/acls"),

  accounts: read("/v1/admin/users", "user:lookup"),
  account: read(ACCOUNT, "user:lookup"),
  guildsOfAccount: read(`${ACCOUNT}/guilds`, "user:list:guilds"),
  conversations: read(`${ACCOUNT}/dm-channels`, "user:list:dm_channels"),
  applications: read(`${ACCOUNT}/applications`, ["application:lookup", "application:list:by_owner"]),
  relationships: read(`${ACCOUNT}/relationships`, "user:list:relationships"),
  sessions: read(`${ACCOUNT}/sessions`, "user:list:sessions"),
  passkeys: read(`${ACCOUNT}/webauthn-credentials`, "user:update:mfa"),
  changeLog: read(`${ACCOUNT}/change-log`, "user:view:contact_log"),
  purchases: read(`${ACCOUNT}/store-purchases`, "user:lookup"),

  auditLog: read("/v1/admin/audit-logs", "audit_log:view"),
  auditLogEntry: read("/v1/admin/audit-logs/{log_id}", "audit_log:view"),
  keys: read("/v1/admin/api-keys", "admin_api_key:manage"),
  key: read("/v1/admin/api-keys/{key_id}", "admin_api_key:manage"),
  jobs: read("/v1/admin/jobs", "jobs:view"),
  job: read("/v1/admin/jobs/{job_id}", "jobs:view"),
  shred: read("/v1/admin/messages/shreds/{job_id}", "message:shred"),
  archives: read("/v1/admin/archives", ANY_ARCHIVE),
  archive: read(ARCHIVE, ANY_ARCHIVE),
  archiveAddress: read(`${ARCHIVE}/download`, ANY_ARCHIVE),

  guilds: read("/v1/admin/guilds", "guild:lookup"),
  guild: read(GUILD, "guild:lookup"),
  guildMembers: read(`${GUILD}/members`, "guild:list:members"),
  guildAuditLog: read(`${GUILD}/audit-logs`, "guild:audit_log:view"),
  guildEmojis: read(`${GUILD}/emojis`, ["guild:lookup", "asset:purge"]),
  guildStickers: read(`${GUILD}/stickers`, ["guild:lookup", "asset:purge"]),

  reports: read("/v1/admin/reports", "report:view"),
  report: read("/v1/admin/reports/{report_id}", "report:view"),
  figures: read("/v1/admin/instance/figures", ["instance:config:view", "gateway:memory_stats"]),
  history: read("/v1/admin/instance/figures/history", ["instance:config:view", "gateway:memory_stats"]),
  storage: read("/v1/admin/storage", ["instance:config:view", "gateway:memory_stats"]),
  policy: read("/v1/admin/instance/config", "instance:config:view"),
  limits: read("/v1/admin/instance/limit-config", "instance:limit_config:view"),
  registrations: read("/v1/admin/registrations", "user:lookup"),
  gateway: read("/v1/admin/gateway", "gateway:memory_stats"),
  gatewayGuilds: read("/v1/admin/gateway/guilds", "gateway:memory_stats"),
  gatewayNodes: read("/v1/admin/gateway/nodes", "gateway:memory_stats"),

  discovery: read("/v1/admin/discovery/applications", "discovery:review"),

  message: read("/v1/admin/messages", "message:lookup"),
  messages: read("/v1/admin/channels/{channel_id}/messages", "message:lookup"),
  messageOfChannel: read("/v1/admin/channels/{channel_id}/messages/{message_id}", "message:lookup"),
  applicationsOfOwner: read("/v1/admin/applications", "application:list:by_owner"),
  application: read("/v1/admin/applications/{application_id}", "application:lookup"),
};

/** @typedef {BLOCKLISTS[number][0]} Blocklist */

/** The blocklists: [name, what stands on it, what one entry is]. */
export const BLOCKLISTS = /** @type {const} */ ([
  ["email", t("Email addresses"), t("Email address")],
  ["ip", t("Networks"), t("Address or network")],
  ["phrase", t("Phrases"), t("Phrase")],
  ["url", t("Pages"), t("Address of a page")],
  ["url_domain", t("Domains of pages"), t("Domain")],
  ["file_sha", t("Files"), t("SHA-256 of the file")],
  ["avatar_hash", t("Avatars"), t("Hash of the image")],
  ["profile_substring", t("Texts in profiles"), t("Text")],
]);

/** @param {Blocklist} name */
export function blocklistRead(name) {
  return read(`/v1/admin/blocklists/${name}`, `ban:${name}:check`);
}
