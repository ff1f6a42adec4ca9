// What the numbers of administration.md, Account flags, are called, and what they mean to a person. tests/web holds
// these tables against the server's own.

// Bits of an account's 64-bit `flags`.
export const FLAGS = [
  [0, "STAFF", "Runs the instance; opens nothing by itself"],
  [2, "PARTNER", "A partner of the instance"],
  [3, "BUG_HUNTER", "Has found bugs"],
  [4, "FRIENDLY_BOT", "A bot that may be befriended"],
  [5, "FRIENDLY_BOT_MANUAL_APPROVAL", "A bot that may be befriended once its owner agrees"],
  [6, "SPAMMER", "Marked as a sender of unwanted messages"],
  [7, "PROFILE_HIDDEN", "The profile is not shown"],
  [33, "HIGH_GLOBAL_RATE_LIMIT", "The wider limit on requests applies"],
  [34, "DELETED", "Erased; a nameless stand-in is left"],
  [36, "SELF_DELETED", "The holder asked for deletion"],
  [38, "DISABLED", "Nobody can sign in"],
  [39, "HAS_SESSION_STARTED", "Has been used at least once"],
  [47, "RATE_LIMIT_BYPASS", "No limit on requests applies"],
  [48, "REPORT_BANNED", "May not report others"],
  [49, "VERIFIED_NOT_UNDERAGE", "Known not to be too young"],
  [50, "ACCOUNT_LIMITED", "May not begin new conversations freely"],
  [51, "HAS_DISMISSED_PREMIUM_ONBOARDING", "Has seen what premium offers"],
  [53, "APP_STORE_REVIEWER", "Looks at the apps for a store"],
  [57, "STAFF_HIDDEN", "Does not show that it is staff"],
  [60, "AGE_VERIFIED_ADULT", "Known to be an adult"],
  [62, "LIMIT_EXEMPT", "Exempt from limits on new accounts"],
];

// Bits of an account's `premium_flags`.
export const PREMIUM_FLAGS = [
  [0, "DISCRIMINATOR", "Chose its own discriminator"],
  [1, "BADGE_HIDDEN", "Shows no badge"],
  [2, "BADGE_MASKED", "Shows a plain badge"],
  [3, "BADGE_TIMESTAMP_HIDDEN", "The badge does not say since when"],
  [4, "BADGE_SEQUENCE_HIDDEN", "The badge does not say which purchase it was"],
  [5, "PERKS_SANITIZED", "What premium had set is taken back"],
  [6, "PURCHASE_DISABLED", "May not buy"],
  [7, "ENABLED_OVERRIDE", "Has premium without paying"],
  [8, "PERKS_DISABLED", "Premium gives nothing"],
];

export const PREMIUM_TYPES = new Map([
  [0, "None"],
  [1, "Subscription"],
  [2, "Lifetime"],
]);

// Deletion reason codes. Those marked also resolve the pending reports against the account.
export const DELETION_REASONS = [
  [1, "USER_REQUESTED", "The holder asked for it"],
  [2, "OTHER", "Other"],
  [3, "SPAM", "Spam", true],
  [4, "CHEATING_OR_EXPLOITATION", "Cheating or exploitation", true],
  [5, "COORDINATED_RAIDING", "Coordinated raiding", true],
  [6, "AUTOMATION_OR_SELFBOT", "Automation or self-bot", true],
  [7, "NONCONSENSUAL_SEXUAL_CONTENT", "Nonconsensual sexual content"],
  [8, "SCAM_OR_SOCIAL_ENGINEERING", "Scam or social engineering", true],
  [9, "CHILD_SEXUAL_CONTENT", "Sexual content involving children"],
  [10, "PRIVACY_VIOLATION_OR_DOXXING", "Privacy violation or doxxing"],
  [11, "HARASSMENT_OR_BULLYING", "Harassment or bullying", true],
  [12, "PAYMENT_FRAUD", "Payment fraud"],
  [13, "CHILD_SAFETY_VIOLATION", "Child safety violation"],
  [14, "BILLING_DISPUTE_OR_ABUSE", "Billing dispute or abuse"],
  [15, "UNSOLICITED_EXPLICIT_CONTENT", "Unsolicited explicit content"],
  [16, "GRAPHIC_VIOLENCE", "Graphic violence"],
  [17, "BAN_EVASION", "Ban evasion", true],
  [18, "TOKEN_OR_CREDENTIAL_SCAM", "Token or credential scam", true],
  [19, "INACTIVITY", "Inactivity"],
  [20, "HATE_SPEECH_OR_EXTREMIST_CONTENT", "Hate speech or extremist content", true],
  [21, "MALICIOUS_LINKS_OR_MALWARE", "Malicious links or malware", true],
  [22, "IMPERSONATION_OR_FAKE_IDENTITY", "Impersonation or fake identity", true],
];

export const PROFILE_FIELDS = [
  ["avatar", "Avatar"],
  ["banner", "Banner"],
  ["bio", "About"],
  ["pronouns", "Pronouns"],
  ["global_name", "Display name"],
];

export const RELATIONSHIPS = [
  ["friend", "friends", "Friends"],
  ["incoming_request", "incoming_requests", "Requests to this account"],
  ["outgoing_request", "outgoing_requests", "Requests by this account"],
  ["blocked", "blocked", "Blocked by this account"],
];

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
export const DISABLED_OPERATIONS = [
  [0, "PUSH_NOTIFICATIONS", "No push notifications"],
  [1, "EVERYONE_MENTIONS", "No mentions of everyone"],
  [2, "TYPING_EVENTS", "Nobody is seen typing"],
  [3, "INSTANT_INVITES", "No invites"],
  [4, "SEND_MESSAGE", "No messages"],
  [5, "REACTIONS", "No reactions"],
  [6, "MEMBER_LIST_UPDATES", "The member list stands still"],
];

export const VERIFICATION_LEVELS = ["nothing", "a verified address", "an account that is not new", "a membership that is not new", "level 4"];

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

export function deletionReason(code) {
  const row = DELETION_REASONS.find(([known]) => known === code);
  return row ? row[2] : `Reason ${code}`;
}

// The bits that a number has, each with its row where it has a name: [position, name, words].
export function bitsOf(number, table) {
  const value = BigInt(number);
  const found = [];
  for (let position = 0n; value >> position > 0n; position += 1n) {
    if (((value >> position) & 1n) === 0n) continue;
    const row = table.find(([known]) => BigInt(known) === position);
    found.push(row ?? [Number(position), `1<<${position}`, "Not in the registry"]);
  }
  return found;
}

export function hasFlag(user, name) {
  return bitsOf(user.flags, FLAGS).some(([, known]) => known === name);
}

// "message_shred" reads better without its joints.
export function inWords(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
