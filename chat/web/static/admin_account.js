// One account: what it is, what is around it, and everything that can be done to it. Each part is read when it is looked
// at, because reading is recorded, too.

import { h } from "../client/base/dom.js";
import { ACCOUNT_ACTIONS, isBanned, isBannedForGood } from "./admin_account_actions.js";
import { partsFor } from "./admin_account_parts.js";
import { stateTags } from "./admin_accounts.js";
import { actionButton } from "./admin_dialog.js";
import { instance } from "./admin_instance_facts.js";
import { READS } from "./admin_operations.js";
import { accountLink, accountPlace, card, code, entryPlace, facts, fromOutside, inZone, link, madeAt, muted, tag, tagOf, withDistance } from "./admin_parts.js";
import { again } from "./admin_places.js";
import { FLAGS, PREMIUM_FLAGS, PREMIUM_TYPES, bitsOf, deletionReason } from "./admin_registries.js";
import { ask, holds, may } from "./admin_session.js";
import { t, tn } from "./spoken.js";

const HISTORY = 200;
/** @typedef {import("wire").AdminUser} AdminUser */
/** @typedef {import("wire").AdminAuditLogEntry} Entry */
/** @typedef {import("./admin_account_actions.js").AccountContext} AccountContext */
/** @typedef {{params: {user_id: string}}} OfAccount */
/** @typedef {AccountContext & OfAccount} Context */
/** @typedef {(answer: unknown, action: {reloads?: boolean}) => Promise<void>} Then */
/** @typedef {typeof ACCOUNT_ACTIONS} Actions */
/**
 * @typedef {{[Name in keyof Actions]:
 *   Actions[Name] extends import("./admin_dialog.js").Action<AccountContext, never> ? Name : never}[keyof Actions]} ActionName
 * Actions that need nothing but the account.
 */
/** @typedef {(...names: ActionName[]) => HTMLElement} Act The buttons of these. */

/** @type {Record<number, string>} */
const AUTHENTICATORS = { 0: t("authenticator app"), 2: t("passkeys") };

// The account that is looked at, so that going through its parts does not record a reading each time; and whether it is
// known to be as it is now, because an action has just told.
/** @type {AdminUser | null} */
let kept = null;
let isFresh = false;

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showAccount({ params, signal }) {
  const { user_id: id = "", part: name = "overview" } = params;
  if (kept?.id !== id || (name === "overview" && !isFresh)) kept = await read(id, signal);
  isFresh = false;
  if (kept === null) return { title: t("No such account"), content: h("p", {}, tn("There is no account with the ID {id}.", { id: code(id) })) };
  const user = kept;
  const facts = await instance();
  const context = { params: { user_id: id }, user, instance: facts };
  // Most actions answer the account as it is now, or leave it as it was: no need to read it once more.
  /** @type {Then} */
  const then = (answer, action) => {
    const told = /** @type {{user?: AdminUser, users?: AdminUser[]} | null} */ (answer);
    kept = told?.user ?? told?.users?.[0] ?? kept;
    isFresh = !action.reloads;
    if (action.reloads) kept = null;
    return again();
  };
  const parts = partsFor(context);
  const part = parts.find((one) => one.name === name);
  const content = name === "overview" ? await overview(context, then, signal) : part ? await part.show(context, then, signal) : null;
  return {
    title: user.global_name ?? user.username,
    lead: [
      h("p", { class: "identity" }, h("span", { class: "from-outside" }, tagOf(user)), " ", code(id), " ", stateTags(user)),
      tabs(id, name, parts),
    ],
    content: content ?? h("p", {}, t("There is nothing here.")),
  };
}

/**
 * @param {string} id
 * @param {AbortSignal} signal
 */
async function read(id, signal) {
  const { users } = await ask(READS.account, { params: { user_id: id }, signal });
  return users[0] ?? null;
}

/**
 * @param {string} id
 * @param {string} current
 * @param {{name: string, words: string}[]} parts
 */
function tabs(id, current, parts) {
  const item = (/** @type {string} */ name, /** @type {string} */ words) =>
    h("li", {}, h("a", { href: name === "overview" ? accountPlace(id) : `${accountPlace(id)}/${name}`, "aria-current": name === current ? "page" : null }, words));
  return h(
    "nav",
    { class: "tabs", "aria-label": t("Account") },
    h("ul", {}, item("overview", t("Overview")), parts.map((part) => item(part.name, part.words))),
  );
}

/**
 * @param {Context} context
 * @param {Then} then
 * @param {AbortSignal} signal
 */
async function overview(context, then, signal) {
  const { user } = context;
  const history = may(READS.auditLog) ? await ask(READS.auditLog, { query: { target_id: user.id, limit: HISTORY }, signal }) : null;
  /** @type {Act} */
  const act = (...names) => h("div", { class: "buttons" }, names.map((name) => actionButton(name, actionOf(name), context, then)));
  return [
    h(
      "div",
      { class: "cards" },
      ban(context, then, history?.logs ?? null),
      deletion(user, act),
      identity(user, act),
      signIn(user, act),
      permissions(user, context, then),
      marks(user, act),
      premium(user),
    ),
  ];
}

/**
 * @param {ActionName} name
 * @returns {import("./admin_dialog.js").Action<AccountContext, never>}
 */
function actionOf(name) {
  return ACCOUNT_ACTIONS[name];
}

/** @param {string} acl */
function redacted(acl) {
  return h("span", { class: "muted" }, tn("hidden from you ({permission})", { permission: code(acl) }));
}

/**
 * @param {Context} context
 * @param {Then} then
 * @param {Entry[] | null} log
 */
function ban(context, then, log) {
  const { user } = context;
  const current = isBanned(user) ? (log?.find((entry) => entry.action === "temp_ban" && sameTime(entry.metadata.banned_until, user.temp_banned_until)) ?? null) : null;
  const whole = { ...context, banEntryId: current?.log_id ?? null };
  const notes = current && log ? log.filter((entry) => entry.action === "annotate_ban" && entry.metadata.ban_audit_log_id === current.log_id).reverse() : [];
  const button = (/** @type {ActionName} */ name) => actionButton(name, actionOf(name), whole, then);
  const until = !isBanned(user) ? t("not banned") : isBannedForGood(user) ? tag(t("for good"), "off") : withDistance(user.temp_banned_until);
  return card(
    t("Ban"),
    facts(
      [isBanned(user) ? t("Banned until") : t("State"), until],
      current ? [t("Banned by"), [accountLink(current.admin_user_id, current.admin_user), ", ", link(entryPlace(current.log_id), inZone(current.created_at))]] : null,
      current && current.metadata.reason && current.metadata.reason !== "null" ? [t("Told the holder"), fromOutside(current.metadata.reason)] : null,
      current?.audit_log_reason ? [t("Reason"), h("span", { class: "reason from-outside" }, current.audit_log_reason)] : null,
    ),
    notes.length > 0 ? [h("h3", {}, t("Notes")), h("ul", { class: "rows" }, notes.map(note))] : null,
    h("div", { class: "buttons" }, button("writeNote"), button("ban"), isBanned(user) ? button("annotateBan") : null, button("unban")),
  );
}

/** @param {Entry} entry */
function note(entry) {
  return h(
    "li",
    {},
    h(
      "div",
      { class: "what" },
      h("p", { class: "reason from-outside" }, entry.audit_log_reason ?? ""),
      muted(accountLink(entry.admin_user_id, entry.admin_user), ", ", link(entryPlace(entry.log_id), inZone(entry.created_at))),
    ),
  );
}

/**
 * @param {string | null | undefined} one
 * @param {string | null} other
 */
function sameTime(one, other) {
  return Date.parse(one ?? "") === Date.parse(other ?? "");
}

/**
 * @param {AdminUser} user
 * @param {Act} act
 */
function deletion(user, act) {
  const pending = user.pending_deletion_at !== null;
  return card(
    t("Deletion"),
    pending
      ? facts(
          [t("To be erased"), withDistance(user.pending_deletion_at)],
          [t("Reason"), user.deletion_reason_code === null ? "" : deletionReason(user.deletion_reason_code)],
          [t("Told the holder"), user.deletion_public_reason ? fromOutside(user.deletion_public_reason) : ""],
          [
            t("Private reason"),
            holds("audit_log:view") ? (user.deletion_audit_log_reason ? h("span", { class: "reason from-outside" }, user.deletion_audit_log_reason) : "") : redacted("audit_log:view"),
          ],
          [t("Scheduled by"), user.deletion_scheduled_by ? accountLink(user.deletion_scheduled_by) : ""],
          [t("Scheduled"), user.deletion_scheduled_at ? inZone(user.deletion_scheduled_at) : ""],
        )
      : facts([t("State"), t("not scheduled")]),
    user.pending_bulk_message_deletion_at ? facts([t("Its messages, by its own wish"), withDistance(user.pending_bulk_message_deletion_at)]) : null,
    act("scheduleDeletion", "replaceDeletion", "cancelDeletion"),
  );
}

/**
 * @param {AdminUser} user
 * @param {Act} act
 */
function identity(user, act) {
  const sees = holds("user:view:email");
  const address = [fromOutside(user.email ?? ""), " ", user.email_verified ? tag(t("verified")) : tag(t("not verified"), "off"), user.email_bounced ? [" ", tag(t("letters come back"), "off")] : null].flat().filter(Boolean);
  return card(
    t("Who it is"),
    facts(
      [t("Tag"), fromOutside(tagOf(user))],
      [t("Display name"), user.global_name ? fromOutside(user.global_name) : ""],
      [t("Email"), sees ? (user.email === null ? "" : address) : redacted("user:view:email")],
      [t("Date of birth"), holds("user:view:dob") ? user.date_of_birth : redacted("user:view:dob")],
      [t("Language"), user.locale],
      [t("Made"), withDistance(madeAt(user.id))],
      [t("Kind"), user.system ? t("the system's") : user.bot ? t("a bot") : t("a person")],
      [t("About me"), user.bio ? h("span", { class: "reason from-outside" }, user.bio) : ""],
      [t("Pronouns"), user.pronouns ? fromOutside(user.pronouns) : ""],
      [t("Accent colour"), user.accent_color === null ? "" : code(`#${user.accent_color.toString(16).padStart(6, "0")}`)],
      [t("Avatar"), user.avatar ? code(user.avatar) : ""],
      [t("Banner"), user.banner ? code(user.banner) : ""],
    ),
    act("changeUsername", "changeEmail", "verifyEmail", "sendVerification", "changeDateOfBirth", "clearProfileFields", "blockAvatar", "setBotStatus", "setSystemStatus"),
  );
}

/**
 * @param {AdminUser} user
 * @param {Act} act
 */
function signIn(user, act) {
  const sees = holds("user:view:ip");
  const types = user.authenticator_types.map((type) => AUTHENTICATORS[type] ?? t("type {type}", { type }));
  return card(
    t("Signing in"),
    facts(
      [t("Authenticator app"), user.has_totp ? t("set up") : t("none")],
      [t("Second factors asked for"), types.join(", ") || t("none")],
      [t("Last active"), user.last_active_at ? withDistance(user.last_active_at) : t("never")],
      [t("From"), sees ? (user.last_active_ip ? code(user.last_active_ip) : "") : redacted("user:view:ip")],
      sees ? [t("Name of that address"), user.last_active_ip_reverse ? fromOutside(user.last_active_ip_reverse) : ""] : null,
      sees ? [t("Place"), user.last_active_location ? fromOutside(user.last_active_location) : ""] : null,
    ),
    act("sendPasswordReset", "createResetLink", "revokeRecoveryKit", "disableMfa", "terminateSessions"),
  );
}

/**
 * @param {AdminUser} user
 * @param {Context} context
 * @param {Then} then
 */
function permissions(user, context, then) {
  const button = h("div", { class: "buttons" }, actionButton("setAcls", ACCOUNT_ACTIONS.setAcls, { ...context, acls: context.instance.acls }, then));
  return card(
    t("Administrative permissions"),
    user.acls.length === 0 ? muted(t("None: the account administers nothing.")) : h("ul", { class: "columns" }, user.acls.map((acl) => h("li", {}, code(acl)))),
    button,
  );
}

/**
 * @param {AdminUser} user
 * @param {Act} act
 */
function marks(user, act) {
  const list = (/** @type {import("./admin_registries.js").Bit[]} */ bits) => (bits.length === 0 ? "" : h("ul", { class: "plainly" }, bits.map(([, name, words]) => h("li", {}, code(name), " ", h("span", { class: "muted" }, words)))));
  return card(
    t("Flags and traits"),
    facts(
      [t("Flags"), list(bitsOf(user.flags, FLAGS))],
      [t("Premium flags"), list(bitsOf(user.premium_flags, PREMIUM_FLAGS))],
      [t("Traits"), user.traits.length === 0 ? "" : h("span", { class: "tags" }, user.traits.map((trait) => h("span", { class: "tag from-outside" }, trait)))],
    ),
    act("updateFlags", "updatePremiumFlags", "setTraits"),
  );
}

/** @param {AdminUser} user */
function premium(user) {
  return card(
    t("Premium"),
    facts(
      [t("Type"), user.premium_type === null ? "" : (PREMIUM_TYPES.get(user.premium_type) ?? t("Type {premium_type}", { premium_type: user.premium_type }))],
      [t("Since"), user.premium_since ? inZone(user.premium_since) : ""],
      [t("Until"), user.premium_until ? withDistance(user.premium_until) : ""],
      [t("Grace ends"), user.premium_grace_ends_at ? withDistance(user.premium_grace_ends_at) : ""],
      [t("Lifetime purchase"), user.premium_lifetime_sequence === null ? "" : t("number {premium_lifetime_sequence}", { premium_lifetime_sequence: user.premium_lifetime_sequence })],
    ),
  );
}

