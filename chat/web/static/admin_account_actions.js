// What an administrator can do to an account: every operation of administration.md, Conventions, that changes
// something, one row each (two where one operation serves two purposes).  label, button   what is offered, and the word
// that does it acls            what the caller needs besides admin:authenticate method, path    the operation text(c)
// what happens, told before it does; `c` is {user, me, instance} and what the caller of the row adds fields
// what is asked for: see admin_fields.js blocked(c)      why it cannot be done to this account now; null when it can
// shown(c)        whether this instance and this account have it at all reason          whether an audit log reason is
// asked for; true unless said otherwise done(c, data)   what is said afterwards result(data)    what is shown
// afterwards and only once typed(c)        a word that has to be typed first, where nothing can be taken back query,
// inPath, bodiless   whether the fields go into the query, which of them into the path, and that there is no body

import { count, inZone, oneTimeText, paragraph } from "./admin_parts.js";
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

const ACCOUNT = "/v1/admin/users/{user_id}";

const PERMANENT_YEARS = 90;

const withAddress = ({ instance }) => instance.signIn === "email";
const withUsername = ({ instance }) => instance.signIn === "username";
const noAddress = ({ user }) =>
  holds("user:view:email") && user.email === null ? "The account has no email address." : null;

export const isBanned = (user) => user.temp_banned_until !== null;
export const isBannedForGood = (user) =>
  isBanned(user) && new Date(user.temp_banned_until) > Date.now() + PERMANENT_YEARS * 365 * 86_400_000;

const notify = (label, value) => ({ kind: "switch", name: "notify_user", label, value });

const DURATIONS = [
  ["1", "1 hour"],
  ["6", "6 hours"],
  ["24", "1 day"],
  ["72", "3 days"],
  ["168", "1 week"],
  ["720", "30 days"],
  ["0", "For good"],
];

export const deletionFields = (c) => [
  {
    kind: "choice",
    name: "reason_code",
    label: "Reason",
    number: true,
    options: DELETION_REASONS.map(([code, , words]) => [String(code), words]),
    value: c.user.deletion_reason_code === null ? "" : String(c.user.deletion_reason_code),
    hint:
      "Every reason but the holder's own wish also blocks the email address; reasons of spam, fraud and harassment " +
      "resolve the pending reports against the account.",
  },
  {
    kind: "number",
    name: "days_until_deletion",
    label: "Days until the account is erased",
    value: DAYS_MINIMUM,
    min: 1,
    max: 365,
    required: true,
    hint: `At least ${DAYS_MINIMUM}, or ${DAYS_MINIMUM_ON_REQUEST} when the holder asked for it: fewer are raised to that.`,
  },
  { kind: "area", name: "public_reason", label: "What the holder is told", max: 512, value: c.user.deletion_public_reason ?? "" },
  notify("Tell the holder by mail", true),
];

export const ACCOUNT_ACTIONS = {
  // Who it is

  changeUsername: {
    label: "Change the username",
    acls: ["user:update:username"],
    method: "PATCH",
    path: `${ACCOUNT}/username`,
    text: () => "Everybody sees the new name at once. The change is kept in the change log.",
    fields: ({ user }) => [
      { kind: "text", name: "username", label: "Username", value: user.username, max: 32, required: true, hint: "Letters, digits and underscores." },
      {
        kind: "text",
        name: "discriminator",
        label: "Discriminator",
        max: 4,
        inputmode: "numeric",
        hint: "Up to four digits. Left empty, a free one is chosen; where accounts may not choose theirs, it does not count.",
      },
    ],
    button: "Change the username",
    done: (_, { user }) => `The account is now ${user.username}.`,
  },
  changeEmail: {
    label: "Change the email address",
    acls: ["user:update:email"],
    method: "PATCH",
    path: `${ACCOUNT}/email`,
    shown: withAddress,
    text: () => "The new address counts as unverified. Neither address is told.",
    fields: ({ user }) => [
      { kind: "text", type: "email", name: "email", label: "New email address", value: user.email ?? "", max: 254, required: true },
    ],
    button: "Change the address",
    done: () => "The email address is changed.",
  },
  verifyEmail: {
    label: "Mark the address as verified",
    acls: ["user:update:email"],
    method: "PUT",
    path: `${ACCOUNT}/email-verification`,
    shown: withAddress,
    text: () => "The current address counts as verified, and letters that came back are forgotten. This cannot be taken back, except by changing the address.",
    button: "Mark as verified",
    done: () => "The email address counts as verified.",
  },
  sendVerification: {
    label: "Send the verification mail",
    acls: ["user:update:email"],
    method: "POST",
    path: `${ACCOUNT}/verification-email`,
    shown: withAddress,
    blocked: (c) => (c.user.bot ? "Bots are sent no mail." : noAddress(c)),
    text: () => "The holder gets a link that verifies the current address. Three letters in a quarter of an hour are the most.",
    button: "Send",
    done: () => "The verification mail is on its way.",
  },
  changeDateOfBirth: {
    label: "Change the date of birth",
    acls: ["user:update:dob"],
    method: "PATCH",
    path: `${ACCOUNT}/date-of-birth`,
    text: () => "It can be changed again, but not cleared.",
    fields: ({ user }) => [
      { kind: "text", type: "date", name: "date_of_birth", label: "Date of birth", value: user.date_of_birth ?? "", required: true },
    ],
    button: "Change",
    done: () => "The date of birth is changed.",
  },
  clearProfileFields: {
    label: "Clear parts of the profile",
    acls: ["user:update:profile"],
    method: "DELETE",
    path: `${ACCOUNT}/profile-fields`,
    text: () => "What is cleared is gone; the holder can set it anew.",
    fields: ({ user }) => [
      {
        kind: "checks",
        name: "fields",
        label: "To be cleared",
        options: PROFILE_FIELDS.map(([name, words]) => ({ value: name, label: words, hint: user[name] === null ? "not set" : "" })),
        value: [],
        least: "Choose what is to be cleared.",
      },
    ],
    button: "Clear",
    done: () => "The profile is cleared of these.",
  },
  blockAvatar: {
    label: "Block the avatar",
    acls: ["ban:avatar_hash:add"],
    method: "POST",
    path: `${ACCOUNT}/avatar-block`,
    shown: ({ user }) => user.avatar !== null,
    text: () => "The image goes onto the blocklist of avatars: nobody can show it any more, this account included.",
    button: "Block the avatar",
    danger: true,
    reloads: true,
    done: () => "The avatar is blocked.",
  },
  setBotStatus: {
    label: "Set whether it is a bot",
    acls: ["user:update:bot_status"],
    method: "PUT",
    path: `${ACCOUNT}/bot-status`,
    blocked: ({ user }) => (!user.bot && user.acls.length > 0 ? "Take its administrative permissions away first." : null),
    text: ({ user }) =>
      user.bot ? "The account becomes a person's, and is no system account any more." : "The account becomes a bot's: everybody sees it marked as one.",
    fields: ({ user }) => [{ kind: "fixed", name: "bot", label: "Bot", value: !user.bot, words: user.bot ? "no" : "yes" }],
    button: "Change",
    done: (_, { user }) => (user.bot ? "The account is a bot's now." : "The account is a person's now."),
  },
  setSystemStatus: {
    label: "Set whether it is the system's",
    acls: ["user:update:bot_status"],
    method: "PUT",
    path: `${ACCOUNT}/system-status`,
    blocked: ({ user }) => (!user.bot && !user.system ? "Only a bot can be a system account." : null),
    text: ({ user }) => (user.system ? "The account is an ordinary bot again." : "Everybody sees that the account speaks for the instance."),
    fields: ({ user }) => [{ kind: "fixed", name: "system", label: "System account", value: !user.system, words: user.system ? "no" : "yes" }],
    button: "Change",
    done: (_, { user }) => (user.system ? "The account is the system's now." : "The account is not the system's any more."),
  },

  // How it signs in

  sendPasswordReset: {
    label: "Send a password reset",
    acls: ["user:update:email"],
    method: "POST",
    path: `${ACCOUNT}/password-reset`,
    shown: withAddress,
    blocked: noAddress,
    text: () => "The holder gets a link that sets a new password. Until it is used nothing changes.",
    button: "Send",
    done: () => "The password reset is on its way.",
  },
  createResetLink: {
    label: "Make a reset link",
    acls: ["user:create:password_reset_link"],
    method: "POST",
    path: `${ACCOUNT}/password-reset-link`,
    shown: withUsername,
    blocked: (c) => (c.user.bot ? "Bots have no password." : outranked(c)),
    text: () => "You get a link to hand over, good once and for an hour. Earlier links and the recovery kit of the account stop working.",
    button: "Make the link",
    done: () => "The reset link is made.",
    result: ({ url, expires_at: expires }) => [
      paragraph("Hand this link over in person or by a way that nobody else reads. It is shown this once."),
      oneTimeText("Reset link", url),
      paragraph("It works until ", inZone(expires), "."),
    ],
  },
  revokeRecoveryKit: {
    label: "Void the recovery kit",
    acls: ["user:delete:recovery_kit"],
    method: "DELETE",
    path: `${ACCOUNT}/recovery-kit`,
    shown: withUsername,
    blocked: (c) => outranked(c),
    text: () => "The code that the holder kept stops working, if there is one.",
    button: "Void the kit",
    danger: true,
    done: () => "The recovery kit is void.",
  },
  disableMfa: {
    label: "Turn the second factors off",
    acls: ["user:update:mfa"],
    method: "DELETE",
    path: `${ACCOUNT}/mfa`,
    text: () => "The authenticator app and the backup codes of the account are forgotten. Passkeys stay, and so do its sessions.",
    button: "Turn off",
    danger: true,
    reloads: true,
    done: () => "The second factors are off.",
  },
  deletePasskey: {
    label: "Take the passkey away",
    acls: ["user:update:mfa"],
    method: "DELETE",
    path: `${ACCOUNT}/webauthn-credentials/{credential}`,
    place: "row",
    text: ({ passkey }) => `The passkey “${passkey.name}” opens the account no longer.`,
    button: "Take away",
    danger: true,
    reloads: true,
    done: () => "The passkey is gone.",
  },
  terminateSessions: {
    label: "End every session",
    acls: ["user:update:flags"],
    method: "DELETE",
    path: `${ACCOUNT}/sessions`,
    text: ({ user }) =>
      isOwn(user.id)
        ? "This is your own account: you are signed out here, too."
        : "The holder is signed out everywhere at once and can sign in again. Keys, bot tokens and applications stay.",
    button: "End the sessions",
    danger: true,
    done: (_, { terminated_count: ended }) => (ended === 0 ? "There was no session to end." : `${count(ended, "session")} ended.`),
  },

  // What it may do, and how it is marked

  setAcls: {
    label: "Change the permissions",
    acls: ["acl:set:user"],
    method: "PUT",
    path: `${ACCOUNT}/acls`,
    blocked: ({ user }) => (isOwn(user.id) ? "You cannot change your own permissions." : null),
    text: () => "What is ticked replaces what the account may do. It counts at once, for its sessions and its keys.",
    fields: ({ user, acls }) => [
      {
        kind: "checks",
        name: "acls",
        label: "Permissions",
        options: acls.map((acl) => ({
          value: acl,
          label: acl,
          code: true,
          hint: acl === "*" ? "everything" : "",
          locked: holds(acl) ? "" : "you do not have it yourself",
        })),
        value: user.acls,
        filter: true,
      },
    ],
    button: "Change the permissions",
    danger: true,
    done: (_, { user }) => (user.acls.length === 0 ? "The account administers nothing any more." : `The account has ${count(user.acls.length, "permission")}.`),
  },
  setTraits: {
    label: "Change the traits",
    acls: ["user:update:traits"],
    method: "PUT",
    path: `${ACCOUNT}/traits`,
    text: () => "Traits are labels; limits and clients may go by them.",
    fields: ({ user }) => [
      { kind: "lines", name: "traits", label: "Traits", value: user.traits, hint: "One a line, a hundred at most, each up to 128 characters." },
    ],
    button: "Change the traits",
    done: () => "The traits are changed.",
  },
  updateFlags: {
    label: "Change the flags",
    acls: ["user:update:flags"],
    method: "PATCH",
    path: `${ACCOUNT}/flags`,
    text: () => "Only what you tick or untick is changed.",
    fields: ({ user }) => [
      { kind: "bits", names: ["add_flags", "remove_flags"], label: "Flags", table: FLAGS, value: user.flags, text: true },
    ],
    button: "Change the flags",
    done: () => "The flags are changed.",
  },
  updatePremiumFlags: {
    label: "Change the premium flags",
    acls: ["user:update:flags"],
    method: "PATCH",
    path: `${ACCOUNT}/premium-flags`,
    text: () => "They change how premium shows and whether it can be bought, not what was bought.",
    fields: ({ user }) => [
      { kind: "bits", names: ["add_flags", "remove_flags"], label: "Premium flags", table: PREMIUM_FLAGS, value: user.premium_flags },
    ],
    button: "Change the premium flags",
    done: () => "The premium flags are changed.",
  },
  refreshPurchases: {
    label: "Ask the stores again",
    acls: ["user:update:flags"],
    method: "POST",
    path: `${ACCOUNT}/store-purchases/refresh`,
    shown: ({ instance }) => instance.hasPurchases,
    text: () => "Every purchase is read from its store anew. A subscription that the store does not know any more stops giving premium.",
    button: "Ask again",
    reloads: true,
    done: (_, { purchases }) => `${count(purchases.length, "purchase")} read anew.`,
  },

  // Keeping it out

  writeNote: {
    label: "Write a note",
    acls: ["user:lookup"],
    method: "GET",
    path: ACCOUNT,
    text: () =>
      "The note stands in the audit log with your name: a warning that you gave, for instance. Nothing else changes, and the holder is not told.",
    reasonLabel: "Note",
    reasonRequired: true,
    button: "Write the note",
    done: () => "The note is in the audit log.",
  },
  ban: {
    label: ({ user }) => (isBanned(user) ? "Change the ban" : "Ban"),
    acls: ["user:temp_ban"],
    method: "PUT",
    path: `${ACCOUNT}/ban`,
    text: ({ user }) =>
      (isOwn(user.id) ? "This is your own account: you lock yourself out. " : "") +
      "Nobody can use the account until the ban ends; every session ends at once." +
      (isBanned(user) ? " The time of the ban that stands is replaced." : ""),
    fields: () => [
      { kind: "choice", name: "duration_hours", label: "For how long", number: true, options: DURATIONS, value: "24", other: { label: "Hours", min: 0, max: 8_760 } },
      { kind: "area", name: "reason", label: "What the holder is told", max: 512, hint: "It goes into the mail and the audit log." },
      notify("Tell the holder by mail (a ban for good tells nobody)", true),
    ],
    button: "Ban",
    danger: true,
    done: (_, { user }) => (isBannedForGood(user) ? "The account is banned for good." : ["The account is banned until ", inZone(user.temp_banned_until), "."]),
  },
  unban: {
    label: "Lift the ban",
    acls: ["user:temp_ban"],
    method: "DELETE",
    path: `${ACCOUNT}/ban`,
    blocked: ({ user }) => (isBanned(user) || hasFlag(user, "DISABLED") ? null : "The account is not banned."),
    text: () => "The holder can sign in again; the sessions that were ended stay so.",
    fields: () => [
      { kind: "area", name: "public_reason", label: "What the holder is told", max: 512 },
      notify("Tell the holder by mail", true),
    ],
    button: "Lift the ban",
    done: () => "The ban is lifted.",
  },
  annotateBan: {
    label: "Add a note to the ban",
    acls: ["user:temp_ban"],
    method: "POST",
    path: `${ACCOUNT}/ban/notes`,
    blocked: ({ user }) => (isBanned(user) ? null : "The account is not banned."),
    text: () => "Notes are added, never changed. The holder does not see them.",
    fields: ({ banEntryId }) => [
      banEntryId
        ? { kind: "fixed", name: "ban_audit_log_id", label: "Ban", value: banEntryId, words: `audit log entry ${banEntryId}` }
        : { kind: "text", name: "ban_audit_log_id", label: "Audit log entry of the ban", max: 20, inputmode: "numeric", required: true },
      { kind: "area", name: "note", label: "Note", max: 512, required: true },
    ],
    reason: false,
    button: "Add the note",
    done: () => "The note is added.",
  },

  // Its end

  scheduleDeletion: {
    label: "Schedule the deletion",
    acls: ["user:delete"],
    method: "PUT",
    path: `${ACCOUNT}/deletion`,
    shown: ({ user }) => user.pending_deletion_at === null,
    text: ({ user }) =>
      (isOwn(user.id) ? "This is your own account: you lock yourself out. " : "") +
      "From now on nobody can sign in to the account, and it is erased when the time is up. Until then this can be taken back.",
    fields: deletionFields,
    reasonHint: "Kept with the deletion; only administrators see it.",
    button: "Schedule the deletion",
    danger: true,
    done: (_, { user }) => ["The account is to be erased on ", inZone(user.pending_deletion_at), "."],
  },
  replaceDeletion: {
    label: "Replace the deletion",
    acls: ["user:delete"],
    method: "PUT",
    path: `${ACCOUNT}/deletion`,
    shown: ({ user }) => user.pending_deletion_at !== null,
    text: () => "The deletion that is scheduled makes way for this one.",
    fields: (c) => [
      {
        kind: "fixed",
        name: "replace_pending_deletion_at",
        label: "Replaces",
        value: c.user.pending_deletion_at,
        words: inZone(c.user.pending_deletion_at),
      },
      ...deletionFields(c),
    ],
    reasonHint: "Kept with the deletion; only administrators see it.",
    button: "Replace the deletion",
    danger: true,
    done: (_, { user }) => ["The account is now to be erased on ", inZone(user.pending_deletion_at), "."],
  },
  cancelDeletion: {
    label: "Cancel the deletion",
    acls: ["user:delete"],
    method: "DELETE",
    path: `${ACCOUNT}/deletion`,
    shown: ({ user }) => user.pending_deletion_at !== null,
    text: ({ user }) =>
      "The account stays." + (isBanned(user) ? " The ban stays, too: nobody can sign in before it ends or is lifted." : " Its holder can sign in again."),
    fields: ({ user }) => [
      {
        kind: "fixed",
        name: "expected_pending_deletion_at",
        label: "Was to happen",
        value: user.pending_deletion_at,
        words: inZone(user.pending_deletion_at),
      },
      notify("Tell the holder by mail", false),
    ],
    button: "Cancel the deletion",
    done: () => "The deletion is cancelled.",
  },

  // What is around it

  clearRelationships: {
    label: "Remove all of a kind",
    acls: ["user:remove:relationship"],
    method: "DELETE",
    path: `${ACCOUNT}/relationships`,
    place: "relationships",
    text: () => "Friendships and requests are removed for both accounts; a block for the one that set it.",
    query: true,
    fields: () => [
      { kind: "choice", name: "category", label: "Which", options: RELATIONSHIPS.map(([category, , words]) => [category, words]), value: "" },
    ],
    button: "Remove them",
    danger: true,
    done: (_, { removed_count: removed }) => (removed === 0 ? "There was nothing to remove." : `${count(removed, "relationship")} removed.`),
  },
  removeRelationship: {
    label: "Remove",
    acls: ["user:remove:relationship"],
    method: "DELETE",
    path: `${ACCOUNT}/relationships/{target_user_id}`,
    place: "row",
    text: ({ targetName }) => `What there is between this account and ${targetName} is removed.`,
    query: true,
    fields: ({ category }) => [
      { kind: "fixed", name: "category", label: "Kind", value: category, words: RELATIONSHIPS.find(([name]) => name === category)?.[2] ?? category },
    ],
    button: "Remove",
    danger: true,
    done: () => "The relationship is removed.",
  },

  transferApplication: {
    label: "Give it to another owner",
    acls: ["application:transfer_ownership"],
    method: "POST",
    path: "/v1/admin/applications/{application_id}/transfer-ownership",
    place: "row",
    text: ({ application }) => `“${application.name}” and its bot belong to the other account from then on.`,
    fields: () => [{ kind: "text", name: "new_owner_id", label: "ID of the new owner", max: 20, inputmode: "numeric", required: true }],
    button: "Give it away",
    danger: true,
    done: () => "The application has another owner.",
  },

  // What it wrote

  countMessages: {
    label: "Count the messages",
    acls: ["message:delete_all"],
    method: "DELETE",
    path: `${ACCOUNT}/messages`,
    place: "messages",
    text: () => "Everything the account has written is counted; nothing is deleted. The count is kept in the audit log.",
    query: true,
    fields: () => [{ kind: "fixed", name: "dry_run", label: "Dry run", value: "true", words: "yes" }],
    button: "Count",
    done: (_, found) => `${count(found.message_count, "message")} in up to ${count(found.channel_count, "channel")}.`,
  },
  deleteMessages: {
    label: "Delete all messages",
    acls: ["message:delete_all"],
    method: "DELETE",
    path: `${ACCOUNT}/messages`,
    place: "messages",
    text: ({ counted }) =>
      `${counted ? `${count(counted.message_count, "message")} in up to ${count(counted.channel_count, "channel")} are` : "Everything the account has written is"} ` +
      "deleted by a job. What is deleted cannot be brought back.",
    query: true,
    fields: () => [{ kind: "fixed", name: "dry_run", label: "Dry run", value: "false", words: "no" }],
    typed: ({ user }) => user.username,
    button: "Delete all messages",
    danger: true,
    done: (_, found) => (found.job_id ? "The job is queued." : "There was nothing to delete."),
    job: true,
  },
  shredMessages: {
    label: "Shred listed messages",
    acls: ["message:shred"],
    method: "POST",
    path: `${ACCOUNT}/message-shreds`,
    place: "messages",
    text: () => "A job deletes the messages of this account that you list; others are skipped. What is deleted cannot be brought back.",
    fields: () => [
      {
        kind: "messages",
        name: "entries",
        label: "Messages",
        required: true,
        hint: "One a line: a link to the message, or the channel's ID and the message's. A thousand at most.",
      },
    ],
    button: "Shred them",
    danger: true,
    done: () => "The job is queued.",
    job: true,
  },
  cancelMessageDeletion: {
    label: "Cancel the deletion of its messages",
    acls: ["user:cancel:bulk_message_deletion"],
    method: "DELETE",
    path: `${ACCOUNT}/message-deletion`,
    place: "messages",
    blocked: ({ user }) => (user.pending_bulk_message_deletion_at === null ? "The holder has scheduled none." : null),
    text: () => "The holder asked for all messages of the account to be deleted; they stay. What is deleted already does not come back.",
    button: "Cancel it",
    done: () => "The messages stay.",
  },
  buildArchive: {
    label: "Build an archive",
    acls: ["archive:trigger:user"],
    method: "POST",
    path: `${ACCOUNT}/archives`,
    place: "archives",
    text: () => "A job puts together everything that the instance has of the account, to be downloaded.",
    fields: () => [
      { kind: "switch", name: "include_attachments", label: "With the uploaded files", value: false, hint: "Larger, and slower to build." },
    ],
    button: "Build the archive",
    done: () => "The archive is being built.",
  },
};

// A reset link or a voided kit is for accounts that may do no more than the caller.
function outranked({ user }) {
  return user.acls.every(holds) ? null : "The account has permissions that you do not have.";
}
