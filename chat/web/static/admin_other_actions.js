// What an administrator can change besides accounts; the rows are those of admin_account_actions.js.

import { deletionFields } from "./admin_account_actions.js";
import { BLOCKLISTS } from "./admin_operations.js";
import { inZone, oneTimeText, paragraph } from "./admin_parts.js";
import { FLAGS, GUILD_FEATURES } from "./admin_registries.js";
import { holds } from "./admin_session.js";
import { plural, t, tn } from "./spoken.js";

/** @typedef {import("./admin_fields.js").Field} Field */
/** @typedef {import("./admin_session.js").Acl} Acl */
/** @typedef {import("wire").Answer<"GET", "/v1/admin/instance/config">} Policy */
/** @typedef {import("wire").Answer<"GET", "/v1/admin/instance/limit-config">} Limits */
/** @typedef {{params?: Record<string, string>}} Plain */
/** @typedef {Plain & {acls: readonly Acl[]}} AclsContext */
/** @typedef {Plain & {key: import("wire").AdminApiKey}} KeyContext */
/** @typedef {Plain & {policy: Policy}} PolicyContext */
/** @typedef {Plain & {limits: Limits}} LimitsContext */
/** @typedef {Plain & {name: string}} NameContext */
/** @typedef {Plain & {value: string}} ValueContext */

/**
 * @type {<Method extends string, Path extends string, C extends Plain = Plain>(
 *   row: import("./admin_dialog.js").Row<C, Method, Path>
 * ) => import("./admin_dialog.js").Row<C, Method, Path>}
 */
const row = (one) => one;

/** @type {(acls: readonly Acl[], value: readonly string[]) => Field} */
const keyAcls = (acls, value) => ({
  kind: "checks",
  name: "acls",
  label: t("Permissions of the key"),
  options: acls.map((acl) => ({
    value: acl,
    label: acl,
    code: true,
    hint: acl === "*" ? t("everything that you may do") : acl === "admin:authenticate" ? t("needed for anything at all") : "",
    locked: holds(acl) ? "" : t("you do not have it yourself"),
  })),
  value,
  filter: true,
});

/** @type {(name: string, label: string) => Field} */
const ids = (name, label) => ({ kind: "lines", name, label, value: [], required: true, hint: t("IDs, one a line; a thousand at most.") });

/** @type {(name: string, label: string) => Field} */
const flagList = (name, label) => ({
  kind: "checks",
  name,
  label,
  options: FLAGS.map(([position, flag, words]) => ({ value: String(1n << BigInt(position)), label: flag, hint: words, code: true })),
  value: [],
  filter: true,
});

/** @type {(name: string, label: string) => Field} */
const featureList = (name, label) => ({
  kind: "checks",
  name,
  label,
  options: GUILD_FEATURES.map((feature) => ({ value: feature, label: feature, code: true })),
  value: [],
  filter: true,
});

export const OTHER_ACTIONS = {
  createKey: row({
    label: t("Make a key"),
    acls: ["admin_api_key:manage"],
    method: "POST",
    path: "/v1/admin/api-keys",
    text: () => t("A program with the key can do what is ticked, as long as you may do it yourself."),
    fields: (/** @type {AclsContext} */ { acls }) => [
      { kind: "text", name: "name", label: t("Name"), max: 100, required: true, hint: t("What it is for.") },
      { kind: "number", name: "expires_in_days", label: t("Days until it expires"), min: 1, max: 365, value: 90, hint: t("Left empty, it does not expire.") },
      keyAcls(acls, ["admin:authenticate"]),
    ],
    reason: false,
    button: t("Make the key"),
    done: () => t("The key is made."),
    result: ({ key, name, expires_at: expires }) => [
      paragraph(tn("This is the key {name}. It is shown this once: keep it where nobody else reads it.", { name })),
      oneTimeText(t("Key"), key),
      expires ? paragraph(tn("It works until {time}.", { time: inZone(expires) })) : paragraph(t("It does not expire.")),
    ],
  }),
  changeKey: row({
    label: t("Change"),
    acls: ["admin_api_key:manage"],
    method: "PATCH",
    path: "/v1/admin/api-keys/{key_id}",
    text: (/** @type {KeyContext} */ { key }) => t("The key “{name}” stays the same; what it may do changes at once.", { name: key.name }),
    fields: (/** @type {KeyContext & AclsContext} */ { key, acls }) => [{ kind: "text", name: "name", label: t("Name"), max: 100, required: true, value: key.name }, keyAcls(acls, key.acls)],
    reason: false,
    button: t("Change the key"),
    done: (_, key) => plural(key.acls.length, "The key has {n} permission.", "The key has {n} permissions."),
  }),
  deleteKey: row({
    label: t("Delete"),
    acls: ["admin_api_key:manage"],
    method: "DELETE",
    path: "/v1/admin/api-keys/{key_id}",
    text: (/** @type {KeyContext} */ { key }) => t("Whatever uses the key “{name}” is refused from now on.", { name: key.name }),
    reason: false,
    button: t("Delete the key"),
    danger: true,
    done: () => t("The key is deleted."),
  }),
  cancelJob: row({
    label: t("Cancel the job"),
    acls: ["jobs:cancel"],
    method: "POST",
    path: "/v1/admin/jobs/{job_id}/cancel",
    text: () => t("It ends before its next step. What it has done stays done."),
    button: t("Cancel the job"),
    danger: true,
    done: () => t("The job ends."),
  }),
  changePolicy: row({
    label: t("Change the policy"),
    acls: ["instance:config:update"],
    method: "PATCH",
    path: "/v1/admin/instance/config",
    text: () => t("It counts at once and outlasts a restart. What the settings say is put aside until it is reset."),
    fields: (/** @type {PolicyContext} */ { policy: { config, overridden } }) => [
      { kind: "text", name: "service_name", label: t("Name of the instance"), max: 64, value: config.service_name, changed: true },
      { kind: "text", name: "service_description", label: t("What the front page says of it"), max: 500, value: config.service_description ?? "", clears: true, changed: true },
      { kind: "text", name: "welcome_invite", label: t("Code of the invite on the front page"), max: 64, value: config.welcome_invite ?? "", clears: true, changed: true },
      {
        kind: "choice",
        name: "registration",
        label: t("New accounts"),
        value: config.registration,
        changed: true,
        options: [["open", t("anybody may make one")], ["approval", t("an administrator approves each")], ["closed", t("nobody may make one")]],
      },
      { kind: "switch", name: "email_verification_required", label: t("An email address has to be verified"), value: config.email_verification_required, changed: true },
      { kind: "switch", name: "single_community_enabled", label: t("One community: everybody is in it"), value: config.single_community_enabled, changed: true },
      { kind: "text", name: "single_community_guild_id", label: t("ID of that community"), max: 20, inputmode: "numeric", value: config.single_community_guild_id ?? "", clears: true, changed: true },
      { kind: "switch", name: "direct_messages_disabled", label: t("No direct messages"), value: config.direct_messages_disabled, changed: true },
      ...(overridden.length === 0
        ? []
        : [{ kind: /** @type {const} */ ("checks"), name: "reset", label: t("To be again as the settings say"), options: overridden.map((name) => ({ value: name, label: name, code: true })), value: [], changed: true }]),
    ],
    button: t("Change the policy"),
    danger: true,
    done: () => t("The policy is changed."),
  }),
  changeLimits: row({
    label: t("Change the limits"),
    acls: ["instance:limit_config:update"],
    method: "PATCH",
    path: "/v1/admin/instance/limit-config",
    text: () => t("They count at once and outlast a restart."),
    fields: (/** @type {LimitsContext} */ { limits: { limits, defaults, overridden } }) => [
      {
        kind: "numbers",
        names: ["limits", "reset"],
        label: t("Limits"),
        value: Object.fromEntries(overridden.map((name) => [name, limits[name]])),
        defaults,
        hint: t("Left empty, a limit is what the settings say."),
      },
    ],
    button: t("Change the limits"),
    danger: true,
    done: () => t("The limits are changed."),
  }),
  approveRegistration: row({
    label: t("Approve"),
    acls: ["user:update:flags"],
    method: "POST",
    path: "/v1/admin/registrations/{user_id}/approve",
    text: (/** @type {NameContext} */ { name }) => t("From now on {name} can sign in.", { name }),
    button: t("Approve"),
    done: () => t("The account can sign in."),
  }),
  rejectRegistration: row({
    label: t("Turn down"),
    acls: ["user:update:flags"],
    method: "POST",
    path: "/v1/admin/registrations/{user_id}/reject",
    text: (/** @type {NameContext} */ { name }) => t("{name} cannot sign in.", { name }),
    button: t("Turn down"),
    danger: true,
    done: () => t("The registration is turned down."),
  }),
  bulkFlags: row({
    label: t("Change the flags of many accounts"),
    acls: ["bulk:update:user_flags"],
    method: "POST",
    path: "/v1/admin/bulk-jobs/update-user-flags",
    text: () => t("A job sets and clears the flags, one account after the other. What is to be both set and cleared ends cleared."),
    fields: () => [ids("user_ids", t("Accounts")), flagList("add_flags", t("Flags to be set")), flagList("remove_flags", t("Flags to be cleared"))],
    button: t("Order the job"),
    danger: true,
    done: () => t("The job is queued."),
  }),
  bulkFeatures: row({
    label: t("Change the features of many communities"),
    acls: ["bulk:update:guild_features"],
    method: "POST",
    path: "/v1/admin/bulk-jobs/update-guild-features",
    text: () => t("A job gives the features and takes others away, one community after the other."),
    fields: () => [ids("guild_ids", t("Communities")), featureList("add_features", t("Features to be given")), featureList("remove_features", t("Features to be taken away"))],
    button: t("Order the job"),
    danger: true,
    done: () => t("The job is queued."),
  }),
  bulkMembers: row({
    label: t("Add many members to a community"),
    acls: ["bulk:add:guild_members"],
    method: "POST",
    path: "/v1/admin/bulk-jobs/add-guild-members",
    text: () => t("A job makes the accounts members, whether or not they want to."),
    fields: () => [{ kind: "text", name: "guild_id", label: t("ID of the community"), max: 20, inputmode: "numeric", required: true }, ids("user_ids", t("Accounts"))],
    button: t("Order the job"),
    danger: true,
    done: () => t("The job is queued."),
  }),
  bulkDeletions: row({
    label: t("Schedule the deletion of many accounts"),
    acls: ["bulk:delete:users"],
    method: "POST",
    path: "/v1/admin/bulk-jobs/schedule-user-deletions",
    text: () => t("A job schedules the deletions, one account after the other. Each can be taken back on the page of its account."),
    fields: () => [ids("user_ids", t("Accounts")), ...deletionFields({ user: { deletion_reason_code: null, deletion_public_reason: null } })],
    typed: () => t("delete"),
    button: t("Order the job"),
    danger: true,
    done: () => t("The job is queued."),
  }),
  systemMessage: row({
    label: t("Write in the instance's name"),
    acls: ["system_dm:send"],
    method: "POST",
    path: "/v1/admin/system-dms",
    text: () => t("A job writes the message to these accounts, or to everybody, in the name of the instance."),
    fields: () => [
      { kind: "area", name: "content", label: t("Message"), required: true },
      { kind: "lines", name: "user_ids", label: t("To these accounts"), value: [], lazy: true, hint: t("IDs, one a line.") },
      { kind: "switch", name: "everyone", label: t("To everybody instead"), value: false },
    ],
    button: t("Send"),
    danger: true,
    done: () => t("The job is queued."),
  }),
  cleanStorage: row({
    label: t("Clean up"),
    acls: ["instance:config:update"],
    method: "POST",
    path: "/v1/admin/storage/clean",
    text: () => t("A job deletes what nothing needs any more. A dry run only counts: begin with one."),
    fields: () => [
      {
        kind: "checks",
        name: "kinds",
        label: t("What"),
        options: [
          { value: "orphans", label: t("Files that nothing speaks of") },
          { value: "old_renditions", label: t("Resized pictures that nothing has asked for in a month") },
          { value: "deleted_accounts", label: t("What deleted accounts left behind") },
        ],
        value: ["orphans", "old_renditions", "deleted_accounts"],
        least: t("Choose what is to be cleared."),
      },
      { kind: "switch", name: "dry_run", label: t("Only count, delete nothing"), value: true },
    ],
    button: t("Order the job"),
    danger: true,
    done: () => t("The job is queued."),
  }),
  resolveReport: row({
    label: t("Resolve"),
    acls: ["report:resolve"],
    method: "POST",
    path: "/v1/admin/reports/{report_id}/resolve",
    text: () => t("The report counts as dealt with. Whoever made it is told so."),
    fields: () => [{ kind: "area", name: "public_comment", label: t("What the reporter is told besides"), max: 512 }],
    button: t("Resolve"),
    done: () => t("The report is resolved."),
  }),
  deleteMessage: row({
    label: t("Delete the message"),
    acls: ["message:delete"],
    method: "DELETE",
    path: "/v1/admin/channels/{channel_id}/messages/{message_id}",
    text: () => t("The message is deleted for everybody. This cannot be taken back."),
    button: t("Delete the message"),
    danger: true,
    done: () => t("The message is deleted."),
  }),
  reloadGuilds: row({
    label: t("Read all communities again"),
    acls: ["gateway:reload_all"],
    method: "POST",
    path: "/v1/admin/gateway/reload",
    text: () => t("Every community that is in memory is read from the store anew; sessions stay."),
    fields: () => [{ kind: "lines", name: "guild_ids", label: t("Only these communities"), value: [], hint: t("IDs, one a line. Left empty, all that are in memory."), lazy: true }],
    button: t("Read again"),
    done: (_, { reloaded_count: read }) => plural(read, "{n} guild read anew.", "{n} communities read anew."),
  }),
  approveDiscovery: row({
    label: t("Approve"),
    acls: ["discovery:review"],
    method: "POST",
    path: "/v1/admin/discovery/applications/{guild_id}/approve",
    text: () => t("Everybody can find the community."),
    fields: () => [{ kind: "area", name: "reason", label: t("What the community is told"), max: 512 }],
    button: t("Approve"),
    done: () => t("The community is in discovery."),
  }),
  rejectDiscovery: row({
    label: t("Turn down"),
    acls: ["discovery:review"],
    method: "POST",
    path: "/v1/admin/discovery/applications/{guild_id}/reject",
    text: () => t("The community stays out of discovery."),
    fields: () => [{ kind: "area", name: "reason", label: t("What the community is told"), max: 512 }],
    button: t("Turn down"),
    danger: true,
    done: () => t("The application is turned down."),
  }),
  removeFromDiscovery: row({
    label: t("Take out of discovery"),
    acls: ["discovery:remove"],
    method: "DELETE",
    path: "/v1/admin/discovery/guilds/{guild_id}",
    text: () => t("Nobody finds the community in discovery any more."),
    fields: () => [{ kind: "area", name: "reason", label: t("What the community is told"), max: 512 }],
    button: t("Take out"),
    danger: true,
    done: () => t("The community is out of discovery."),
  }),
};

/** @typedef {import("./admin_operations.js").Blocklist} Blocklist */

/**
 * @template Made
 * @param {(list: Blocklist, one: string) => Made} make
 */
function ofLists(make) {
  return /** @type {Record<Blocklist, Made>} */ (Object.fromEntries(BLOCKLISTS.map(([list, , one]) => [list, make(list, one)])));
}

/** For each blocklist: asking it, adding to it, taking from it. */
export const BLOCKLIST_ACTIONS = {
  check: ofLists((list, one) =>
    row({
      label: t("Ask whether it is blocked"),
      acls: [`ban:${list}:check`],
      method: "POST",
      path: `/v1/admin/blocklists/${list}/check`,
      text: () => t("Nothing is changed."),
      fields: () => [{ kind: "text", name: "value", label: one, required: true }],
      button: t("Ask"),
      done: (_, { banned, entry }) => (!banned ? t("It is not blocked.") : entry ? t("It is blocked by “{value}”.", { value: entry.value }) : t("It is blocked.")),
    }),
  ),
  add: ofLists((list, one) =>
    row({
      label: t("Block"),
      acls: [`ban:${list}:add`],
      method: "POST",
      path: `/v1/admin/blocklists/${list}`,
      text: () => t("From now on nobody can use it."),
      fields: () => [
        { kind: "text", name: "value", label: one, required: true },
        { kind: "area", name: "reason", label: t("Why"), max: 512, hint: t("It stands in the list.") },
      ],
      button: t("Block"),
      danger: true,
      done: () => t("It is blocked."),
    }),
  ),
  remove: ofLists((list, one) =>
    row({
      label: t("Allow again"),
      acls: [`ban:${list}:remove`],
      method: "DELETE",
      path: `/v1/admin/blocklists/${list}`,
      text: () => t("From now on it can be used again."),
      fields: (/** @type {ValueContext} */ { value }) => [{ kind: "fixed", name: "value", label: one, value, words: value }],
      button: t("Allow again"),
      done: () => t("It is allowed again."),
    }),
  ),
};
