// What the numbers of administration.md, Account flags, are called, and what they mean to a person. tests/web holds
// these tables against the server's own.

import { t, translated } from "./spoken.js";

// Bits of an account's 64-bit `flags`.
/** @typedef {readonly [number, string, string]} Bit Its position, its name, what it means. */

/** @type {readonly Bit[]} */
export const FLAGS = [
  [0, "STAFF", t("Runs the instance; opens nothing by itself")],
  [2, "PARTNER", t("A partner of the instance")],
  [3, "BUG_HUNTER", t("Has found bugs")],
  [4, "FRIENDLY_BOT", t("A bot that may be befriended")],
  [5, "FRIENDLY_BOT_MANUAL_APPROVAL", t("A bot that may be befriended once its owner agrees")],
  [6, "SPAMMER", t("Marked as a sender of unwanted messages")],
  [7, "PROFILE_HIDDEN", t("The profile is not shown")],
  [33, "HIGH_GLOBAL_RATE_LIMIT", t("The wider limit on requests applies")],
  [34, "DELETED", t("Erased; a nameless stand-in is left")],
  [36, "SELF_DELETED", t("The holder asked for deletion")],
  [38, "DISABLED", t("Nobody can sign in")],
  [39, "HAS_SESSION_STARTED", t("Has been used at least once")],
  [47, "RATE_LIMIT_BYPASS", t("No limit on requests applies")],
  [48, "REPORT_BANNED", t("May not report others")],
  [49, "VERIFIED_NOT_UNDERAGE", t("Known not to be too young")],
  [50, "ACCOUNT_LIMITED", t("May not begin new conversations freely")],
  [51, "HAS_DISMISSED_PREMIUM_ONBOARDING", t("Has seen what premium offers")],
  [53, "APP_STORE_REVIEWER", t("Looks at the apps for a store")],
  [57, "STAFF_HIDDEN", t("Does not show that it is staff")],
  [60, "AGE_VERIFIED_ADULT", t("Known to be an adult")],
  [62, "LIMIT_EXEMPT", t("Exempt from limits on new accounts")],
];

// Bits of an account's `premium_flags`.
/** @type {readonly Bit[]} */
export const PREMIUM_FLAGS = [
  [0, "DISCRIMINATOR", t("Chose its own discriminator")],
  [1, "BADGE_HIDDEN", t("Shows no badge")],
  [2, "BADGE_MASKED", t("Shows a plain badge")],
  [3, "BADGE_TIMESTAMP_HIDDEN", t("The badge does not say since when")],
  [4, "BADGE_SEQUENCE_HIDDEN", t("The badge does not say which purchase it was")],
  [5, "PERKS_SANITIZED", t("What premium had set is taken back")],
  [6, "PURCHASE_DISABLED", t("May not buy")],
  [7, "ENABLED_OVERRIDE", t("Has premium without paying")],
  [8, "PERKS_DISABLED", t("Premium gives nothing")],
];

export const PREMIUM_TYPES = new Map([
  [0, t("None")],
  [1, t("Subscription")],
  [2, t("Lifetime")],
]);

// Deletion reason codes. Those marked also resolve the pending reports against the account.
/** @type {readonly (readonly [number, string, string, boolean?])[]} */
export const DELETION_REASONS = [
  [1, "USER_REQUESTED", t("The holder asked for it")],
  [2, "OTHER", t("Other")],
  [3, "SPAM", t("Spam"), true],
  [4, "CHEATING_OR_EXPLOITATION", t("Cheating or exploitation"), true],
  [5, "COORDINATED_RAIDING", t("Coordinated raiding"), true],
  [6, "AUTOMATION_OR_SELFBOT", t("Automation or self-bot"), true],
  [7, "NONCONSENSUAL_SEXUAL_CONTENT", t("Nonconsensual sexual content")],
  [8, "SCAM_OR_SOCIAL_ENGINEERING", t("Scam or social engineering"), true],
  [9, "CHILD_SEXUAL_CONTENT", t("Sexual content involving children")],
  [10, "PRIVACY_VIOLATION_OR_DOXXING", t("Privacy violation or doxxing")],
  [11, "HARASSMENT_OR_BULLYING", t("Harassment or bullying"), true],
  [12, "PAYMENT_FRAUD", t("Payment fraud")],
  [13, "CHILD_SAFETY_VIOLATION", t("Child safety violation")],
  [14, "BILLING_DISPUTE_OR_ABUSE", t("Billing dispute or abuse")],
  [15, "UNSOLICITED_EXPLICIT_CONTENT", t("Unsolicited explicit content")],
  [16, "GRAPHIC_VIOLENCE", t("Graphic violence")],
  [17, "BAN_EVASION", t("Ban evasion"), true],
  [18, "TOKEN_OR_CREDENTIAL_SCAM", t("Token or credential scam"), true],
  [19, "INACTIVITY", t("Inactivity")],
  [20, "HATE_SPEECH_OR_EXTREMIST_CONTENT", t("Hate speech or extremist content"), true],
  [21, "MALICIOUS_LINKS_OR_MALWARE", t("Malicious links or malware"), true],
  [22, "IMPERSONATION_OR_FAKE_IDENTITY", t("Impersonation or fake identity"), true],
];

export const PROFILE_FIELDS = /** @type {const} */ ([
  ["avatar", t("Avatar")],
  ["banner", t("Banner")],
  ["bio", t("About")],
  ["pronouns", t("Pronouns")],
  ["global_name", t("Display name")],
]);

export const RELATIONSHIPS = /** @type {const} */ ([
  ["friend", "friends", t("Friends")],
  ["incoming_request", "incoming_requests", t("Requests to this account")],
  ["outgoing_request", "outgoing_requests", t("Requests by this account")],
  ["blocked", "blocked", t("Blocked by this account")],
]);

export const GUILD_FEATURES = [
  "ANIMATED_ICON",
  "ANIMATED_BANNER",
  "BANNER",
  "INVITE_SPLASH",
  "ANNOUNCEMENT_CHANNELS_DISABLED",
  "AUDIO_BITRATE_128_KBPS",
  "AUDIO_BITRATE_256_KBPS",
  "AUDIO_BITRATE_384_KBPS",
  "CLONE_EMOJI_ENABLED",
  "CLONE_STICKER_ENABLED",
  "CLONE_EMOJI_DISABLED",
  "CLONE_STICKER_DISABLED",
  "DETACHED_BANNER",
  "INVITES_DISABLED",
  "TEXT_CHANNEL_FLEXIBLE_NAMES",
  "HIDE_OWNER_CROWN",
  "RAID_DETECTED",
  "MORE_EMOJI",
  "MORE_STICKERS",
  "LARGE_GUILD_OVERRIDE",
  "UNLIMITED_EMOJI",
  "UNLIMITED_STICKERS",
  "EXPRESSION_PURGE_ALLOWED",
  "VANITY_URL",
  "DISCOVERABLE",
  "PARTNERED",
  "VERIFIED",
  "VISIONARY",
  "VIP_VOICE",
  "VOICE_E2EE",
  "UNAVAILABLE_FOR_EVERYONE",
  "UNAVAILABLE_FOR_EVERYONE_BUT_STAFF",
  "UNAVAILABLE_HIDDEN",
  "VERY_LARGE_GUILD",
];

// Bits of a guild's `disabled_operations`.
/** @type {readonly Bit[]} */
export const DISABLED_OPERATIONS = [
  [0, "PUSH_NOTIFICATIONS", t("No push notifications")],
  [1, "EVERYONE_MENTIONS", t("No mentions of everyone")],
  [2, "TYPING_EVENTS", t("Nobody is seen typing")],
  [3, "INSTANT_INVITES", t("No invites")],
  [4, "SEND_MESSAGE", t("No messages")],
  [5, "REACTIONS", t("No reactions")],
  [6, "MEMBER_LIST_UPDATES", t("The member list stands still")],
];

export const VERIFICATION_LEVELS = [t("nothing"), t("a verified address"), t("an account that is not new"), t("a membership that is not new"), "level 4"];

export const REPORT_KINDS = ["user", "message", "guild"];

export const REPORT_CATEGORIES = [
  "spam",
  "harassment",
  "hate_speech",
  "violence",
  "sexual_content",
  "child_safety",
  "underage_user",
  "self_harm",
  "scam",
  "malware",
  "impersonation",
  "privacy_violation",
  "illegal_activity",
  "spam_account",
  "inappropriate_profile",
  "violent_content",
  "nsfw_violation",
  "doxxing",
  "malicious_links",
  "malware_distribution",
  "raid_coordination",
  "extremist_community",
  "other",
];

export const JOB_TYPES = [
  "message_shred",
  "user_archive",
  "guild_archive",
  "account_erasure",
  "subscription_cancellation",
  "update_user_flags",
  "update_guild_features",
  "add_guild_members",
  "schedule_user_deletions",
  "system_dm",
  "storage_clean_up",
  "message_search_renewal",
  "metadata_removal",
];

export const JOB_STATUSES = ["pending", "running", "completed", "failed", "cancelled"];

export const AUDIT_TARGETS = [
  "user",
  "guild",
  "guild_member",
  "guild_emoji",
  "guild_sticker",
  "message",
  "message_deletion",
  "message_shred",
  "asset",
  "application",
  "report",
  "search_index",
  "system_dm",
  "voice_region",
  "voice_server",
  "ip",
  "email",
  "email_domain",
  "phrase",
  "url",
  "url_domain",
  "file_sha",
  "avatar_hash",
  "profile_substring",
  "instance",
];

// Targets of the audit log whose identifier is an account's.
export const ACCOUNT_TARGETS = ["user", "message_deletion", "message_shred"];

export const DAYS_MINIMUM = 60;
export const DAYS_MINIMUM_ON_REQUEST = 14;

/** @param {number} code */
export function deletionReason(code) {
  const row = DELETION_REASONS.find(([known]) => known === code);
  return row ? row[2] : t("Reason {code}", { code });
}

/**
 * The bits that a number has, each with its row where it has a name: [position, name, words].
 * @param {string | number} number
 * @param {readonly Bit[]} table
 */
export function bitsOf(number, table) {
  const value = BigInt(number);
  /** @type {Bit[]} */
  const found = [];
  for (let position = 0n; value >> position > 0n; position += 1n) {
    if (((value >> position) & 1n) === 0n) continue;
    const row = table.find(([known]) => BigInt(known) === position);
    found.push(row ?? [Number(position), `1<<${position}`, t("Not in the registry")]);
  }
  return found;
}

/**
 * @param {{flags: string}} user
 * @param {string} name
 */
export function hasFlag(user, name) {
  return bitsOf(user.flags, FLAGS).some(([, known]) => known === name);
}

/**
 * "message_shred" reads better without its joints; people call a guild a community, as the client does.
 * @param {string} name
 */
export function inWords(name) {
  const words = name.replaceAll("_", " ").replace(/\bguilds\b/, "communities").replace(/\bguild\b/, "community");
  return translated(words.charAt(0).toUpperCase() + words.slice(1));
}
