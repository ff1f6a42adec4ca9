// The administration console: who is signed in, what they may see, and the places of the console.

import "./address.js";
import { fill, h } from "../client/base/dom.js";
import { register, start } from "./admin_places.js";
import { enter, may, request, signOut } from "./admin_session.js";
import { BLOCKLISTS, READS, blocklistRead } from "./admin_operations.js";
import { showAccount } from "./admin_account.js";
import { showAccounts } from "./admin_accounts.js";
import { showArchives } from "./admin_archives.js";
import { showAuditLog, showAuditLogEntry } from "./admin_audit_log.js";
import { showBlocklist } from "./admin_blocklists.js";
import { showDiscovery } from "./admin_discovery.js";
import { showGuild, showGuilds } from "./admin_guilds.js";
import { showInstance } from "./admin_instance.js";
import { showJob, showJobs } from "./admin_jobs.js";
import { showKeys } from "./admin_keys.js";
import { showMessages } from "./admin_messages.js";
import { showOverview } from "./admin_overview.js";
import { showReport, showReports } from "./admin_reports.js";
import { showStorage } from "./admin_storage.js";
import { ApiError } from "./api.js";
import { byId } from "./dom.js";
import { t } from "./spoken.js";
import { prepareProofs } from "./sudo.js";
import { nameOf } from "./session.js";

/** @typedef {{acls: import("./admin_session.js").Acls}} Reads */
/**
 * @typedef {[address: string, show: import("./admin_places.js").Show, name?: string, ...reads: Reads[]]} Place Its address,
 *   what shows it, its name in the menu (none for places below another), what may be read there: one will do.
 */

/** @type {Place[]} */
const PLACES = [
  ["/admin", showOverview, t("Overview")],
  ["/admin/users", showAccounts, t("Accounts"), READS.accounts],
  ["/admin/users/{user_id}", showAccount],
  ["/admin/users/{user_id}/{part}", showAccount],
  ["/admin/guilds", showGuilds, t("Communities"), READS.guilds],
  ["/admin/guilds/{guild_id}", showGuild],
  ["/admin/guilds/{guild_id}/{part}", showGuild],
  ["/admin/messages", showMessages, t("Messages"), READS.message],
  ["/admin/reports", showReports, t("Reports"), READS.reports],
  ["/admin/reports/{report_id}", showReport],
  ["/admin/discovery", showDiscovery, t("Discovery"), READS.discovery],
  ["/admin/blocklists", showBlocklist, t("Blocklists"), ...BLOCKLISTS.map(([list]) => blocklistRead(list))],
  ["/admin/blocklists/{list}", showBlocklist],
  ["/admin/audit-log", showAuditLog, t("Audit log"), READS.auditLog],
  ["/admin/audit-log/{log_id}", showAuditLogEntry],
  ["/admin/jobs", showJobs, t("Jobs"), READS.jobs],
  ["/admin/jobs/{job_id}", showJob],
  ["/admin/archives", showArchives, t("Archives"), READS.archives],
  ["/admin/keys", showKeys, t("API keys"), READS.keys],
  ["/admin/storage", showStorage, t("Storage"), READS.storage],
  ["/admin/instance", showInstance, t("Instance"), READS.figures, READS.policy, READS.limits],
];

/** @type {Record<string, string>} */
const STANDS = {
  MISSING_PERMISSIONS: t("This account administers nothing here. Ask somebody who does, or sign in with another account."),
  ACCESS_DENIED: t("This kind of sign-in opens no administration. Sign in with an account that may administer."),
};

byId("sign-out").addEventListener("click", signOut);
byId("failed-sign-out").addEventListener("click", signOut);

const menu = byId("menu");
byId("menu-button").addEventListener("click", () => {
  const open = menu.classList.toggle("open");
  byId("menu-button").setAttribute("aria-expanded", String(open));
});

try {
  const me = await enter();
  prepareProofs(request);
  byId("administrator").textContent = nameOf(me);
  byId("menu-list").append(
    ...PLACES.filter(([, , name, ...reads]) => name && (reads.length === 0 || reads.some(may))).map(([place, , name]) =>
      h("li", {}, h("a", { href: place }, name)),
    ),
  );
  byId("frame").hidden = false;
  byId("working").hidden = true;
  for (const [address, show] of PLACES) register(address, show);
  await start();
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  byId("working").hidden = true;
  fill(byId("failure"), STANDS[error.code] ?? error.message);
  byId("failed").hidden = false;
  byId("failed-heading").focus();
}
