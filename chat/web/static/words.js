// What scopes and permissions mean, in plain words.

import { t } from "./spoken.js";


/** @type {Readonly<Record<string, string>>} */
export const SCOPES = {
  identify: t("See your username, display name and picture"),
  email: t("See your email address"),
  guilds: t("See which communities you are in"),
  connections: t("See the accounts elsewhere that you have connected"),
  bot: t("Add its bot to a community that you manage"),
  admin: t("Run this instance with all the rights that you hold"),
};

// By bit (permissions.md, Masks); the order is the one in which they are listed, what can do most harm first.
/** @type {readonly [position: number, words: string][]} */
export const PERMISSIONS = [
  [3, t("Do anything (administrator)")],
  [5, t("Change the community itself")],
  [28, t("Change roles and hand them out")],
  [4, t("Make, change and delete channels")],
  [29, t("Make and change webhooks")],
  [1, t("Remove members")],
  [2, t("Ban members")],
  [40, t("Put members into time-out")],
  [27, t("Change the nicknames of others")],
  [7, t("Read the audit log")],
  [13, t("Delete messages of others")],
  [51, t("Pin messages")],
  [34, t("Manage threads")],
  [30, t("Manage emojis and stickers")],
  [43, t("Add emojis and stickers")],
  [17, t("Mention everyone at once")],
  [52, t("Write without waiting in slow mode")],
  [10, t("See channels")],
  [54, t("See who is in a channel")],
  [16, t("Read earlier messages")],
  [11, t("Write messages")],
  [12, t("Write messages that are read aloud")],
  [14, t("Show previews of links")],
  [15, t("Send files")],
  [6, t("React to messages")],
  [18, t("Use emojis from elsewhere")],
  [37, t("Use stickers from elsewhere")],
  [35, t("Start public threads")],
  [36, t("Start private threads")],
  [38, t("Write in threads")],
  [0, t("Make invites")],
  [26, t("Change its own nickname")],
  [20, t("Join voice channels")],
  [21, t("Speak")],
  [9, t("Share video")],
  [25, t("Speak without push-to-talk")],
  [8, t("Be heard above others")],
  [22, t("Mute members in voice channels")],
  [23, t("Deafen members in voice channels")],
  [24, t("Move members between voice channels")],
  [53, t("Change the region of voice channels")],
];

const bit = (/** @type {number} */ position) => 1n << BigInt(position);

/** @param {string | null | undefined} text */
export function mask(text) {
  return text && /^\d{1,20}$/.test(text) ? BigInt(text) : 0n;
}

/** @param {bigint} given */
export function permissionsIn(given) {
  return PERMISSIONS.filter(([position]) => (given & bit(position)) !== 0n).map(([, words]) => words);
}

/** @param {{permissions?: string | null}} guild */
export function mayManage(guild) {
  return (mask(guild.permissions) & (bit(3) | bit(5))) !== 0n;
}
