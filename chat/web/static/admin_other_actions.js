// What an administrator can change besides accounts; the rows are those of admin_account_actions.js.

import { BLOCKLISTS } from "./admin_operations.js";
import { count, inZone, oneTimeText, paragraph } from "./admin_parts.js";
import { holds } from "./admin_session.js";

const keyAcls = (acls, value) => ({
  kind: "checks",
  name: "acls",
  label: "Permissions of the key",
  options: acls.map((acl) => ({
    value: acl,
    label: acl,
    code: true,
    hint: acl === "*" ? "everything that you may do" : acl === "admin:authenticate" ? "needed for anything at all" : "",
    locked: holds(acl) ? "" : "you do not have it yourself",
  })),
  value,
  filter: true,
});

export const OTHER_ACTIONS = {
  createKey: {
    label: "Make a key",
    acls: ["admin_api_key:manage"],
    method: "POST",
    path: "/v1/admin/api-keys",
    text: () => "A program with the key can do what is ticked, as long as you may do it yourself.",
    fields: ({ acls }) => [
      { kind: "text", name: "name", label: "Name", max: 100, required: true, hint: "What it is for." },
      { kind: "number", name: "expires_in_days", label: "Days until it expires", min: 1, max: 365, value: 90, hint: "Left empty, it does not expire." },
      keyAcls(acls, ["admin:authenticate"]),
    ],
    reason: false,
    button: "Make the key",
    done: () => "The key is made.",
    result: ({ key, name, expires_at: expires }) => [
      paragraph("This is the key ", name, ". It is shown this once: keep it where nobody else reads it."),
      oneTimeText("Key", key),
      expires ? paragraph("It works until ", inZone(expires), ".") : paragraph("It does not expire."),
    ],
  },
  changeKey: {
    label: "Change",
    acls: ["admin_api_key:manage"],
    method: "PATCH",
    path: "/v1/admin/api-keys/{key_id}",
    text: ({ key }) => `The key “${key.name}” stays the same; what it may do changes at once.`,
    fields: ({ key, acls }) => [{ kind: "text", name: "name", label: "Name", max: 100, required: true, value: key.name }, keyAcls(acls, key.acls)],
    reason: false,
    button: "Change the key",
    done: (_, key) => `The key has ${count(key.acls.length, "permission")}.`,
  },
  deleteKey: {
    label: "Delete",
    acls: ["admin_api_key:manage"],
    method: "DELETE",
    path: "/v1/admin/api-keys/{key_id}",
    text: ({ key }) => `Whatever uses the key “${key.name}” is refused from now on.`,
    reason: false,
    button: "Delete the key",
    danger: true,
    done: () => "The key is deleted.",
  },
  cancelJob: {
    label: "Cancel the job",
    acls: ["jobs:cancel"],
    method: "POST",
    path: "/v1/admin/jobs/{job_id}/cancel",
    text: () => "It ends before its next step. What it has done stays done.",
    button: "Cancel the job",
    danger: true,
    done: () => "The job ends.",
  },
  resolveReport: {
    label: "Resolve",
    acls: ["report:resolve"],
    method: "POST",
    path: "/v1/admin/reports/{report_id}/resolve",
    text: () => "The report counts as dealt with. Whoever made it is told so.",
    fields: () => [{ kind: "area", name: "public_comment", label: "What the reporter is told besides", max: 512 }],
    button: "Resolve",
    done: () => "The report is resolved.",
  },
  deleteMessage: {
    label: "Delete the message",
    acls: ["message:delete"],
    method: "DELETE",
    path: "/v1/admin/channels/{channel_id}/messages/{message_id}",
    text: () => "The message is deleted for everybody. This cannot be taken back.",
    button: "Delete the message",
    danger: true,
    done: () => "The message is deleted.",
  },
  reloadGuilds: {
    label: "Read all guilds again",
    acls: ["gateway:reload_all"],
    method: "POST",
    path: "/v1/admin/gateway/reload",
    text: () => "Every guild that is in memory is read from the store anew; sessions stay.",
    fields: () => [{ kind: "lines", name: "guild_ids", label: "Only these guilds", value: [], hint: "IDs, one a line. Left empty, all that are in memory.", lazy: true }],
    button: "Read again",
    done: (_, { reloaded_count: read }) => `${count(read, "guild")} read anew.`,
  },
  approveDiscovery: {
    label: "Approve",
    acls: ["discovery:review"],
    method: "POST",
    path: "/v1/admin/discovery/applications/{guild_id}/approve",
    text: () => "Everybody can find the guild.",
    fields: () => [{ kind: "area", name: "reason", label: "What the guild is told", max: 512 }],
    button: "Approve",
    done: () => "The guild is in discovery.",
  },
  rejectDiscovery: {
    label: "Turn down",
    acls: ["discovery:review"],
    method: "POST",
    path: "/v1/admin/discovery/applications/{guild_id}/reject",
    text: () => "The guild stays out of discovery.",
    fields: () => [{ kind: "area", name: "reason", label: "What the guild is told", max: 512 }],
    button: "Turn down",
    danger: true,
    done: () => "The application is turned down.",
  },
  removeFromDiscovery: {
    label: "Take out of discovery",
    acls: ["discovery:remove"],
    method: "DELETE",
    path: "/v1/admin/discovery/guilds/{guild_id}",
    text: () => "Nobody finds the guild in discovery any more.",
    fields: () => [{ kind: "area", name: "reason", label: "What the guild is told", max: 512 }],
    button: "Take out",
    danger: true,
    done: () => "The guild is out of discovery.",
  },
};

// For each blocklist: asking it, adding to it, taking from it.
for (const [name, , one] of BLOCKLISTS) {
  const path = `/v1/admin/blocklists/${name}`;
  OTHER_ACTIONS[`check_${name}`] = {
    label: "Ask whether it is blocked",
    acls: [`ban:${name}:check`],
    method: "POST",
    path: `${path}/check`,
    text: () => "Nothing is changed.",
    fields: () => [{ kind: "text", name: "value", label: one, required: true }],
    button: "Ask",
    done: (_, { banned, entry }) => (banned ? `It is blocked${entry ? ` by “${entry.value}”` : ""}.` : "It is not blocked."),
  };
  OTHER_ACTIONS[`add_${name}`] = {
    label: "Block",
    acls: [`ban:${name}:add`],
    method: "POST",
    path,
    text: () => "From now on nobody can use it.",
    fields: () => [
      { kind: "text", name: "value", label: one, required: true },
      { kind: "area", name: "reason", label: "Why", max: 512, hint: "It stands in the list." },
    ],
    button: "Block",
    danger: true,
    done: () => "It is blocked.",
  };
  OTHER_ACTIONS[`remove_${name}`] = {
    label: "Allow again",
    acls: [`ban:${name}:remove`],
    method: "DELETE",
    path,
    text: () => "From now on it can be used again.",
    fields: ({ value }) => [{ kind: "fixed", name: "value", label: one, value, words: value }],
    button: "Allow again",
    done: () => "It is allowed again.",
  };
}
