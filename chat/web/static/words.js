// What scopes and permissions mean, in plain words.

export const SCOPES = {
  identify: "See your username, display name and picture",
  email: "See your email address",
  guilds: "See which communities you are in",
  connections: "See the accounts elsewhere that you have connected",
  bot: "Add its bot to a community that you manage",
  admin: "Run this instance with all the rights that you hold",
};

// By bit (permissions.md, Masks); the order is the one in which they are listed, what can do most harm first.
export const PERMISSIONS = [
  [3, "Do anything (administrator)"],
  [5, "Change the community itself"],
  [28, "Change roles and hand them out"],
  [4, "Make, change and delete channels"],
  [29, "Make and change webhooks"],
  [1, "Remove members"],
  [2, "Ban members"],
  [40, "Put members into time-out"],
  [27, "Change the nicknames of others"],
  [7, "Read the audit log"],
  [13, "Delete messages of others"],
  [51, "Pin messages"],
  [34, "Manage threads"],
  [30, "Manage emojis and stickers"],
  [43, "Add emojis and stickers"],
  [17, "Mention everyone at once"],
  [52, "Write without waiting in slow mode"],
  [10, "See channels"],
  [54, "See who is in a channel"],
  [16, "Read earlier messages"],
  [11, "Write messages"],
  [12, "Write messages that are read aloud"],
  [14, "Show previews of links"],
  [15, "Send files"],
  [6, "React to messages"],
  [18, "Use emojis from elsewhere"],
  [37, "Use stickers from elsewhere"],
  [35, "Start public threads"],
  [36, "Start private threads"],
  [38, "Write in threads"],
  [0, "Make invites"],
  [26, "Change its own nickname"],
  [20, "Join voice channels"],
  [21, "Speak"],
  [9, "Share video"],
  [25, "Speak without push-to-talk"],
  [8, "Be heard above others"],
  [22, "Mute members in voice channels"],
  [23, "Deafen members in voice channels"],
  [24, "Move members between voice channels"],
  [53, "Change the region of voice channels"],
];

const bit = (position) => 1n << BigInt(position);

export function mask(text) {
  return /^\d{1,20}$/.test(text ?? "") ? BigInt(text) : 0n;
}

export function permissionsIn(given) {
  return PERMISSIONS.filter(([position]) => (given & bit(position)) !== 0n).map(([, words]) => words);
}

export function mayManage(guild) {
  return (mask(guild.permissions) & (bit(3) | bit(5))) !== 0n;
}
