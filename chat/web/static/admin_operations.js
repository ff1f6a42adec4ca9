// Every operation of the Admin API that reads, as the console asks for it. Those that change something stand with their
// words and fields in admin_account_actions.js and admin_other_actions.js. `acls` names what a caller needs besides
// admin:authenticate; an entry that is a list is satisfied by any of its members. tests/web walks these tables against
// the operations that the server declares.

const ACCOUNT = "/v1/admin/users/{user_id}";

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
};
