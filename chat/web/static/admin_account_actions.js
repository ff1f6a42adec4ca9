// What an administrator can do to an account: every operation of administration.md, Conventions, that changes something,
// one row each (two where one operation serves two purposes). What a row has is told in admin_dialog.js.

import { inZone, oneTimeText, paragraph, sentences } from "./admin_parts.js";
import {
  DAYS_MINIMUM,
  DAYS_MINIMUM_ON_REQUEST,
  DELETION_REASONS,
  FLAGS,
  PREMIUM_FLAGS,
  PROFILE_FIELDS,
  RELATIONSHIPS,
  hasFlag,
} from "./admin_registries.js";
import { holds, isOwn } from "./admin_session.js";
import { plural, t, tn } from "./spoken.js";

/** @typedef {import("wire").AdminUser} AdminUser */
/** @typedef {import("./admin_fields.js").Field} Field */
/**
 * @typedef {object} AccountContext
 * @property {AdminUser} user
 * @property {import("./admin_instance_facts.js").Facts} instance
 * @property {string | null} [banEntryId] The audit log entry of the ban.
 * @property {Record<string, string>} [params]
 */
/** @typedef {AccountContext & {acls: readonly import("./admin_session.js").Acl[]}} AclsContext */
/** @typedef {AccountContext & {passkey: import("wire").WebauthnCredential}} PasskeyContext */
/** @typedef {AccountContext & {category: string, targetName: string}} RelationshipContext */
/** @typedef {AccountContext & {application: import("wire").AdminApplication}} ApplicationContext */
/** @typedef {{user: Pick<AdminUser, "id" | "username" | "temp_banned_until">, params?: Record<string, string>}} BanContext */
/** @typedef {AccountContext & {counted: Counted | null}} MessagesContext */
/** @typedef {{message_count: number, channel_count: number}} Counted */

/**
 * @type {<Method extends string, Path extends string, C extends import("./admin_dialog.js").Context = AccountContext>(
 *   row: import("./admin_dialog.js").Row<C, Method, Path>
 * ) => import("./admin_dialog.js").Row<C, Method, Path>}
 */
const row = (one) => one;

const ACCOUNT = "/v1/admin/users/{user_id}";

const PERMANENT_YEARS = 90;

const withAddress = (/** @type {AccountContext} */ { instance }) => instance.signIn === "email";
const withUsername = (/** @type {AccountContext} */ { instance }) => instance.signIn === "username";
const noAddress = (/** @type {AccountContext} */ { user }) =>
  holds("user:view:email") && user.email === null ? t("The account has no email address.") : null;

export const isBanned = (/** @type {Pick<AdminUser, "temp_banned_until">} */ user) => user.temp_banned_until !== null;
export const isBannedForGood = (/** @type {AdminUser} */ user) =>
  Date.parse(user.temp_banned_until ?? "") > Date.now() + PERMANENT_YEARS * 365 * 86_400_000;

/** @type {(label: string, value: boolean) => Field} */
const notify = (label, value) => ({ kind: "switch", name: "notify_user", label, value });

/** @type {[string, string][]} */
const DURATIONS = [
  ["1", "1 hour"],
  ["6", "6 hours"],
  ["24", "1 day"],
  ["72", "3 days"],
  ["168", "1 week"],
  ["720", "30 days"],
  ["0", t("For good")],
];

/** @type {(c: {user: Pick<AdminUser, "deletion_reason_code" | "deletion_public_reason">}) => Field[]} */
export const deletionFields = (c) => [
  {
    kind: "choice",
    name: "reason_code",
    label: t("Reason"),
    number: true,
    options: DELETION_REASONS.map(([code, , words]) => [String(code), words]),
    value: c.user.deletion_reason_code === null ? "" : String(c.user.deletion_reason_code),
    hint:
      t("Every reason but the holder's own wish also blocks the email address; reasons of spam, fraud and harassment resolve the pending reports against the account."),
  },
  {
    kind: "number",
    name: "days_until_deletion",
    label: t("Days until the account is erased"),
    value: DAYS_MINIMUM,
    min: 1,
    max: 365,
    required: true,
    hint: t("At least {days}, or {fewer} when the holder asked for it: fewer are raised to that.", { days: DAYS_MINIMUM, fewer: DAYS_MINIMUM_ON_REQUEST }),
  },
  { kind: "area", name: "public_reason", label: t("What the holder is told"), max: 512, value: c.user.deletion_public_reason ?? "" },
  notify(t("Tell the holder by mail"), true),
];

const counts = (/** @type {Counted} */ { message_count: messages, channel_count: channels }) => ({
  messages: plural(messages, "{n} message", "{n} messages"),
  channels: plural(channels, "{n} channel", "{n} channels"),
});

export const ACCOUNT_ACTIONS = {
  // Who it is

  changeUsername: row({
    label: t("Change the username"),
    acls: ["user:update:username"],
    method: "PATCH",
    path: `${ACCOUNT}/username`,
    text: () => t("Everybody sees the new name at once. The change is kept in the change log."),
    fields: ({ user }) => [
      { kind: "text", name: "username", label: t("Username"), value: user.username, max: 32, required: true, hint: t("Letters, digits and underscores.") },
      {
        kind: "text",
        name: "discriminator",
        label: t("Discriminator"),
        max: 4,
        inputmode: "numeric",
        hint: t("Up to four digits. Left empty, a free one is chosen; where accounts may not choose theirs, it does not count."),
      },
    ],
    button: t("Change the username"),
    done: (_, { user }) => t("The account is now {username}.", { username: user.username }),
  }),
  changeEmail: row({
    label: t("Change the email address"),
    acls: ["user:update:email"],
    method: "PATCH",
    path: `${ACCOUNT}/email`,
    shown: withAddress,
    text: () => t("The new address counts as unverified. Neither address is told."),
    fields: ({ user }) => [
      { kind: "text", type: "email", name: "email", label: t("New email address"), value: user.email ?? "", max: 254, required: true },
    ],
    button: t("Change the address"),
    done: () => t("The email address is changed."),
  }),
  verifyEmail: row({
    label: t("Mark the address as verified"),
    acls: ["user:update:email"],
    method: "PUT",
    path: `${ACCOUNT}/email-verification`,
    shown: withAddress,
    text: () => t("The current address counts as verified, and letters that came back are forgotten. This cannot be taken back, except by changing the address."),
    button: t("Mark as verified"),
    done: () => t("The email address counts as verified."),
  }),
  sendVerification: row({
    label: t("Send the verification mail"),
    acls: ["user:update:email"],
    method: "POST",
    path: `${ACCOUNT}/verification-email`,
    shown: withAddress,
    blocked: (c) => (c.user.bot ? t("Bots are sent no mail.") : noAddress(c)),
    text: () => t("The holder gets a link that verifies the current address. Three letters in a quarter of an hour are the most."),
    button: t("Send"),
    done: () => t("The verification mail is on its way."),
  }),
  changeDateOfBirth: row({
    label: t("Change the date of birth"),
    acls: ["user:update:dob"],
    method: "PATCH",
    path: `${ACCOUNT}/date-of-birth`,
    text: () => t("It can be changed again, but not cleared."),
    fields: ({ user }) => [
      { kind: "text", type: "date", name: "date_of_birth", label: t("Date of birth"), value: user.date_of_birth ?? "", required: true },
    ],
    button: t("Change"),
    done: () => t("The date of birth is changed."),
  }),
  clearProfileFields: row({
    label: t("Clear parts of the profile"),
    acls: ["user:update:profile"],
    method: "DELETE",
    path: `${ACCOUNT}/profile-fields`,
    text: () => t("What is cleared is gone; the holder can set it anew."),
    fields: ({ user }) => [
      {
        kind: "checks",
        name: "fields",
        label: t("To be cleared"),
        options: PROFILE_FIELDS.map(([name, words]) => ({ value: name, label: words, hint: user[name] === null ? t("not set") : "" })),
        value: [],
        least: t("Choose what is to be cleared."),
      },
    ],
    button: t("Clear"),
    done: () => t("The profile is cleared of these."),
  }),
  blockAvatar: row({
    label: t("Block the avatar"),
    acls: ["ban:avatar_hash:add"],
    method: "POST",
    path: `${ACCOUNT}/avatar-block`,
    shown: ({ user }) => user.avatar !== null,
    text: () => t("The image goes onto the blocklist of avatars: nobody can show it any more, this account included."),
    button: t("Block the avatar"),
    danger: true,
    reloads: true,
    done: () => t("The avatar is blocked."),
  }),
  setBotStatus: row({
    label: t("Set whether it is a bot"),
    acls: ["user:update:bot_status"],
    method: "PUT",
    path: `${ACCOUNT}/bot-status`,
    blocked: ({ user }) => (!user.bot && user.acls.length > 0 ? t("Take its administrative permissions away first.") : null),
    text: ({ user }) =>
      user.bot ? t("The account becomes a person's, and is no system account any more.") : t("The account becomes a bot's: everybody sees it marked as one."),
    fields: ({ user }) => [{ kind: "fixed", name: "bot", label: t("Bot"), value: !user.bot, words: user.bot ? t("no") : t("yes") }],
    button: t("Change"),
    done: (_, { user }) => (user.bot ? t("The account is a bot's now.") : t("The account is a person's now.")),
  }),
  setSystemStatus: row({
    label: t("Set whether it is the system's"),
    acls: ["user:update:bot_status"],
    method: "PUT",
    path: `${ACCOUNT}/system-status`,
    blocked: ({ user }) => (!user.bot && !user.system ? t("Only a bot can be a system account.") : null),
    text: ({ user }) => (user.system ? t("The account is an ordinary bot again.") : t("Everybody sees that the account speaks for the instance.")),
    fields: ({ user }) => [{ kind: "fixed", name: "system", label: t("System account"), value: !user.system, words: user.system ? t("no") : t("yes") }],
    button: t("Change"),
    done: (_, { user }) => (user.system ? t("The account is the system's now.") : t("The account is not the system's any more.")),
  }),

  // How it signs in

  sendPasswordReset: row({
    label: t("Send a password reset"),
    acls: ["user:update:email"],
    method: "POST",
    path: `${ACCOUNT}/password-reset`,
    shown: withAddress,
    blocked: noAddress,
    text: () => t("The holder gets a link that sets a new password. Until it is used nothing changes."),
    button: t("Send"),
    done: () => t("The password reset is on its way."),
  }),
  createResetLink: row({
    label: t("Make a reset link"),
    acls: ["user:create:password_reset_link"],
    method: "POST",
    path: `${ACCOUNT}/password-reset-link`,
    shown: withUsername,
    blocked: (c) => (c.user.bot ? t("Bots have no password.") : outranked(c)),
    text: () => t("You get a link to hand over, good once and for an hour. Earlier links and the recovery kit of the account stop working."),
    button: t("Make the link"),
    done: () => t("The reset link is made."),
    result: ({ url, expires_at: expires }) => [
      paragraph(t("Hand this link over in person or by a way that nobody else reads. It is shown this once.")),
      oneTimeText(t("Reset link"), url),
      paragraph(tn("It works until {time}.", { time: inZone(expires) })),
    ],
  }),
  revokeRecoveryKit: row({
    label: t("Void the recovery kit"),
    acls: ["user:delete:recovery_kit"],
    method: "DELETE",
    path: `${ACCOUNT}/recovery-kit`,
    shown: withUsername,
    blocked: (c) => outranked(c),
    text: () => t("The code that the holder kept stops working, if there is one."),
    button: t("Void the kit"),
    danger: true,
    done: () => t("The recovery kit is void."),
  }),
  disableMfa: row({
    label: t("Turn the second factors off"),
    acls: ["user:update:mfa"],
    method: "DELETE",
    path: `${ACCOUNT}/mfa`,
    text: () => t("The authenticator app and the backup codes of the account are forgotten. Passkeys stay, and so do its sessions."),
    button: t("Turn off"),
    danger: true,
    reloads: true,
    done: () => t("The second factors are off."),
  }),
  deletePasskey: row({
    label: t("Take the passkey away"),
    acls: ["user:update:mfa"],
    method: "DELETE",
    path: `${ACCOUNT}/webauthn-credentials/{credential}`,
    place: "row",
    text: (/** @type {PasskeyContext} */ { passkey }) => t("The passkey “{name}” opens the account no longer.", { name: passkey.name }),
    button: t("Take away"),
    danger: true,
    reloads: true,
    done: () => t("The passkey is gone."),
  }),
  terminateSessions: row({
    label: t("End every session"),
    acls: ["user:update:flags"],
    method: "DELETE",
    path: `${ACCOUNT}/sessions`,
    text: ({ user }) =>
      isOwn(user.id)
        ? t("This is your own account: you are signed out here, too.")
        : t("The holder is signed out everywhere at once and can sign in again. Keys, bot tokens and applications stay."),
    button: t("End the sessions"),
    danger: true,
    done: (_, { terminated_count: ended }) => (ended === 0 ? t("There was no session to end.") : plural(ended, "{n} session ended.", "{n} sessions ended.")),
  }),

  // What it may do, and how it is marked

  setAcls: row({
    label: t("Change the permissions"),
    acls: ["acl:set:user"],
    method: "PUT",
    path: `${ACCOUNT}/acls`,
    blocked: ({ user }) => (isOwn(user.id) ? t("You cannot change your own permissions.") : null),
    text: () => t("What is ticked replaces what the account may do. It counts at once, for its sessions and its keys."),
    fields: (/** @type {AclsContext} */ { user, acls }) => [
      {
        kind: "checks",
        name: "acls",
        label: t("Permissions"),
        options: acls.map((acl) => ({
          value: acl,
          label: acl,
          code: true,
          hint: acl === "*" ? t("everything") : "",
          locked: holds(acl) ? "" : t("you do not have it yourself"),
        })),
        value: user.acls,
        filter: true,
      },
    ],
    button: t("Change the permissions"),
    danger: true,
    done: (_, { user }) => (user.acls.length === 0 ? t("The account administers nothing any more.") : plural(user.acls.length, "The account has {n} permission.", "The account has {n} permissions.")),
  }),
  setTraits: row({
    label: t("Change the traits"),
    acls: ["user:update:traits"],
    method: "PUT",
    path: `${ACCOUNT}/traits`,
    text: () => t("Traits are labels; limits and clients may go by them."),
    fields: ({ user }) => [
      { kind: "lines", name: "traits", label: t("Traits"), value: user.traits, hint: t("One a line, a hundred at most, each up to 128 characters.") },
    ],
    button: t("Change the traits"),
    done: () => t("The traits are changed."),
  }),
  updateFlags: row({
    label: t("Change the flags"),
    acls: ["user:update:flags"],
    method: "PATCH",
    path: `${ACCOUNT}/flags`,
    text: () => t("Only what you tick or untick is changed."),
    fields: ({ user }) => [
      { kind: "bits", names: ["add_flags", "remove_flags"], label: t("Flags"), table: FLAGS, value: user.flags, text: true },
    ],
    button: t("Change the flags"),
    done: () => t("The flags are changed."),
  }),
  updatePremiumFlags: row({
    label: t("Change the premium flags"),
    acls: ["user:update:flags"],
    method: "PATCH",
    path: `${ACCOUNT}/premium-flags`,
    text: () => t("They change how premium shows and whether it can be bought, not what was bought."),
    fields: ({ user }) => [
      { kind: "bits", names: ["add_flags", "remove_flags"], label: t("Premium flags"), table: PREMIUM_FLAGS, value: user.premium_flags },
    ],
    button: t("Change the premium flags"),
    done: () => t("The premium flags are changed."),
  }),
  refreshPurchases: row({
    label: t("Ask the stores again"),
    acls: ["user:update:flags"],
    method: "POST",
    path: `${ACCOUNT}/store-purchases/refresh`,
    shown: ({ instance }) => instance.hasPurchases,
    text: () => t("Every purchase is read from its store anew. A subscription that the store does not know any more stops giving premium."),
    button: t("Ask again"),
    reloads: true,
    done: (_, { purchases }) => plural(purchases.length, "{n} purchase read anew.", "{n} purchases read anew."),
  }),

  // Keeping it out

  writeNote: row({
    label: t("Write a note"),
    acls: ["user:lookup"],
    method: "GET",
    path: ACCOUNT,
    text: () =>
      t("The note stands in the audit log with your name: a warning that you gave, for instance. Nothing else changes, and the holder is not told."),
    reasonLabel: t("Note"),
    reasonRequired: true,
    button: t("Write the note"),
    done: () => t("The note is in the audit log."),
  }),
  ban: row({
    label: (/** @type {BanContext} */ { user }) => (isBanned(user) ? t("Change the ban") : t("Ban")),
    acls: ["user:temp_ban"],
    method: "PUT",
    path: `${ACCOUNT}/ban`,
    text: ({ user }) =>
      sentences(
        isOwn(user.id) && t("This is your own account: you lock yourself out."),
        t("Nobody can use the account until the ban ends; every session ends at once."),
        isBanned(user) && t("The time of the ban that stands is replaced."),
      ),
    fields: () => [
      { kind: "choice", name: "duration_hours", label: t("For how long"), number: true, options: DURATIONS, value: "24", other: { label: t("Hours"), min: 0, max: 8_760 } },
      { kind: "area", name: "reason", label: t("What the holder is told"), max: 512, hint: t("It goes into the mail and the audit log.") },
      notify(t("Tell the holder by mail (a ban for good tells nobody)"), true),
    ],
    button: t("Ban"),
    danger: true,
    done: (_, { user }) => (isBannedForGood(user) ? t("The account is banned for good.") : tn("The account is banned until {time}.", { time: inZone(user.temp_banned_until) })),
  }),
  unban: row({
    label: t("Lift the ban"),
    acls: ["user:temp_ban"],
    method: "DELETE",
    path: `${ACCOUNT}/ban`,
    blocked: ({ user }) => (isBanned(user) || hasFlag(user, "DISABLED") ? null : t("The account is not banned.")),
    text: () => t("The holder can sign in again; the sessions that were ended stay so."),
    fields: () => [
      { kind: "area", name: "public_reason", label: t("What the holder is told"), max: 512 },
      notify(t("Tell the holder by mail"), true),
    ],
    button: t("Lift the ban"),
    done: () => t("The ban is lifted."),
  }),
  annotateBan: row({
    label: t("Add a note to the ban"),
    acls: ["user:temp_ban"],
    method: "POST",
    path: `${ACCOUNT}/ban/notes`,
    blocked: ({ user }) => (isBanned(user) ? null : t("The account is not banned.")),
    text: () => t("Notes are added, never changed. The holder does not see them."),
    fields: ({ banEntryId }) => [
      banEntryId
        ? { kind: "fixed", name: "ban_audit_log_id", label: t("Ban"), value: banEntryId, words: t("audit log entry {banEntryId}", { banEntryId }) }
        : { kind: "text", name: "ban_audit_log_id", label: t("Audit log entry of the ban"), max: 20, inputmode: "numeric", required: true },
      { kind: "area", name: "note", label: t("Note"), max: 512, required: true },
    ],
    reason: false,
    button: t("Add the note"),
    done: () => t("The note is added."),
  }),

  // Its end

  scheduleDeletion: row({
    label: t("Schedule the deletion"),
    acls: ["user:delete"],
    method: "PUT",
    path: `${ACCOUNT}/deletion`,
    shown: ({ user }) => user.pending_deletion_at === null,
    text: ({ user }) =>
      sentences(
        isOwn(user.id) && t("This is your own account: you lock yourself out."),
        t("From now on nobody can sign in to the account, and it is erased when the time is up. Until then this can be taken back."),
      ),
    fields: (c) => deletionFields(c),
    reasonHint: t("Kept with the deletion; only administrators see it."),
    button: t("Schedule the deletion"),
    danger: true,
    done: (_, { user }) => tn("The account is to be erased on {time}.", { time: inZone(user.pending_deletion_at) }),
  }),
  replaceDeletion: row({
    label: t("Replace the deletion"),
    acls: ["user:delete"],
    method: "PUT",
    path: `${ACCOUNT}/deletion`,
    shown: ({ user }) => user.pending_deletion_at !== null,
    text: () => t("The deletion that is scheduled makes way for this one."),
    fields: (c) => [
      {
        kind: "fixed",
        name: "replace_pending_deletion_at",
        label: t("Replaces"),
        value: c.user.pending_deletion_at,
        words: inZone(c.user.pending_deletion_at),
      },
      ...deletionFields(c),
    ],
    reasonHint: t("Kept with the deletion; only administrators see it."),
    button: t("Replace the deletion"),
    danger: true,
    done: (_, { user }) => tn("The account is now to be erased on {time}.", { time: inZone(user.pending_deletion_at) }),
  }),
  cancelDeletion: row({
    label: t("Cancel the deletion"),
    acls: ["user:delete"],
    method: "DELETE",
    path: `${ACCOUNT}/deletion`,
    shown: ({ user }) => user.pending_deletion_at !== null,
    text: ({ user }) =>
      sentences(
        t("The account stays."),
        isBanned(user) ? t("The ban stays, too: nobody can sign in before it ends or is lifted.") : t("Its holder can sign in again."),
      ),
    fields: ({ user }) => [
      {
        kind: "fixed",
        name: "expected_pending_deletion_at",
        label: t("Was to happen"),
        value: user.pending_deletion_at,
        words: inZone(user.pending_deletion_at),
      },
      notify(t("Tell the holder by mail"), false),
    ],
    button: t("Cancel the deletion"),
    done: () => t("The deletion is cancelled."),
  }),

  // What is around it

  clearRelationships: row({
    label: t("Remove all of a kind"),
    acls: ["user:remove:relationship"],
    method: "DELETE",
    path: `${ACCOUNT}/relationships`,
    place: "relationships",
    text: () => t("Friendships and requests are removed for both accounts; a block for the one that set it."),
    query: true,
    fields: () => [
      { kind: "choice", name: "category", label: t("Which"), options: RELATIONSHIPS.map(([category, , words]) => [category, words]), value: "" },
    ],
    button: t("Remove them"),
    danger: true,
    done: (_, { removed_count: removed }) => (removed === 0 ? t("There was nothing to remove.") : plural(removed, "{n} relationship removed.", "{n} relationships removed.")),
  }),
  removeRelationship: row({
    label: t("Remove"),
    acls: ["user:remove:relationship"],
    method: "DELETE",
    path: `${ACCOUNT}/relationships/{target_user_id}`,
    place: "row",
    text: (/** @type {RelationshipContext} */ { targetName }) => t("What there is between this account and {targetName} is removed.", { targetName }),
    query: true,
    fields: ({ category }) => [
      { kind: "fixed", name: "category", label: t("Kind"), value: category, words: RELATIONSHIPS.find(([name]) => name === category)?.[2] ?? category },
    ],
    button: t("Remove"),
    danger: true,
    done: () => t("The relationship is removed."),
  }),

  transferApplication: row({
    label: t("Give it to another owner"),
    acls: ["application:transfer_ownership"],
    method: "POST",
    path: "/v1/admin/applications/{application_id}/transfer-ownership",
    place: "row",
    text: (/** @type {ApplicationContext} */ { application }) => t("“{name}” and its bot belong to the other account from then on.", { name: application.name }),
    fields: () => [{ kind: "text", name: "new_owner_id", label: t("ID of the new owner"), max: 20, inputmode: "numeric", required: true }],
    button: t("Give it away"),
    danger: true,
    done: () => t("The application has another owner."),
  }),

  // What it wrote

  countMessages: row({
    label: t("Count the messages"),
    acls: ["message:delete_all"],
    method: "DELETE",
    path: `${ACCOUNT}/messages`,
    place: "messages",
    text: () => t("Everything the account has written is counted; nothing is deleted. The count is kept in the audit log."),
    query: true,
    fields: () => [{ kind: "fixed", name: "dry_run", label: t("Dry run"), value: "true", words: t("yes") }],
    button: t("Count"),
    done: (_, found) => t("{messages} in up to {channels}.", counts(found)),
  }),
  deleteMessages: row({
    label: t("Delete all messages"),
    acls: ["message:delete_all"],
    method: "DELETE",
    path: `${ACCOUNT}/messages`,
    place: "messages",
    text: (/** @type {MessagesContext} */ { counted }) =>
      counted
        ? t("{messages} in up to {channels} are deleted by a job. What is deleted cannot be brought back.", counts(counted))
        : t("Everything the account has written is deleted by a job. What is deleted cannot be brought back."),
    query: true,
    fields: () => [{ kind: "fixed", name: "dry_run", label: t("Dry run"), value: "false", words: t("no") }],
    typed: ({ user }) => user.username,
    button: t("Delete all messages"),
    danger: true,
    done: (_, found) => (found.job_id ? t("The job is queued.") : t("There was nothing to delete.")),
    job: true,
  }),
  shredMessages: row({
    label: t("Shred listed messages"),
    acls: ["message:shred"],
    method: "POST",
    path: `${ACCOUNT}/message-shreds`,
    place: "messages",
    text: () => t("A job deletes the messages of this account that you list; others are skipped. What is deleted cannot be brought back."),
    fields: () => [
      {
        kind: "messages",
        name: "entries",
        label: t("Messages"),
        required: true,
        hint: t("One a line: a link to the message, or the channel's ID and the message's. A thousand at most."),
      },
    ],
    button: t("Shred them"),
    danger: true,
    done: () => t("The job is queued."),
    job: true,
  }),
  cancelMessageDeletion: row({
    label: t("Cancel the deletion of its messages"),
    acls: ["user:cancel:bulk_message_deletion"],
    method: "DELETE",
    path: `${ACCOUNT}/message-deletion`,
    place: "messages",
    blocked: ({ user }) => (user.pending_bulk_message_deletion_at === null ? t("The holder has scheduled none.") : null),
    text: () => t("The holder asked for all messages of the account to be deleted; they stay. What is deleted already does not come back."),
    button: t("Cancel it"),
    done: () => t("The messages stay."),
  }),
  buildArchive: row({
    label: t("Build an archive"),
    acls: ["archive:trigger:user"],
    method: "POST",
    path: `${ACCOUNT}/archives`,
    place: "archives",
    text: () => t("A job puts together everything that the instance has of the account, to be downloaded."),
    fields: () => [
      { kind: "switch", name: "include_attachments", label: t("With the uploaded files"), value: false, hint: t("Larger, and slower to build.") },
    ],
    button: t("Build the archive"),
    done: () => t("The archive is being built."),
  }),
};

// A reset link or a voided kit is for accounts that may do no more than the caller.
function outranked(/** @type {AccountContext} */ { user }) {
  return user.acls.every(holds) ? null : t("The account has permissions that you do not have.");
}
