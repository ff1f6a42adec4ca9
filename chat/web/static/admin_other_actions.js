// What an administrator can change besides accounts; the rows are those of admin_account_actions.js.

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
};
