// What an administrator can do to a guild; the rows are those of admin_account_actions.js. One operation changes a guild,
// and each of its fields asks for a permission of its own.

import { DISABLED_OPERATIONS, GUILD_FEATURES, VERIFICATION_LEVELS } from "./admin_registries.js";

const GUILD = "/v1/admin/guilds/{guild_id}";

const change = (acl, row) => ({ acls: [acl], method: "PATCH", path: GUILD, done: () => "The guild is changed.", ...row });

const accountId = (name, label) => ({ kind: "text", name, label, max: 20, inputmode: "numeric", required: true });

const choice = (name, label, value, words) => ({
  kind: "choice",
  name,
  label,
  number: true,
  changed: true,
  value: String(value),
  options: words.map((one, index) => [String(index), one]),
});

const IMAGES = ["icon", "banner", "splash", "embed_splash"];

const DELETED = [
  ["0", "None"],
  ["3600", "Of the last hour"],
  ["86400", "Of the last day"],
  ["604800", "Of the last week"],
];

export const GUILD_ACTIONS = {
  renameGuild: change("guild:update:name", {
    label: "Change the name",
    text: () => "Every member sees the new name at once.",
    fields: ({ guild }) => [{ kind: "text", name: "name", label: "Name", max: 100, required: true, value: guild.name }],
    button: "Change the name",
  }),
  changeVanity: change("guild:update:vanity", {
    label: "Change the invite code of its own",
    text: () => "The former code stops working. Left empty, the guild has none.",
    fields: ({ guild }) => [{ kind: "text", name: "vanity_url_code", label: "Code", max: 256, value: guild.vanity_url_code ?? "", clears: true }],
    button: "Change the code",
  }),
  transferGuild: change("guild:transfer_ownership", {
    label: "Give it to another owner",
    text: () => "The new owner has to be a member, and can do anything in the guild.",
    fields: () => [accountId("new_owner_id", "ID of the new owner")],
    button: "Give it away",
    danger: true,
  }),
  changeFeatures: change("guild:update:features", {
    label: "Change the features",
    text: () => "Only what you tick or untick is changed. The UNAVAILABLE features hide the guild from its members.",
    fields: ({ guild }) => [{ kind: "difference", names: ["add_features", "remove_features"], label: "Features", options: GUILD_FEATURES, value: guild.features }],
    button: "Change the features",
  }),
  clearImages: change("guild:update:settings", {
    label: "Clear images",
    text: () => "What is cleared is gone; the guild can set it anew.",
    fields: ({ guild }) => [
      {
        kind: "checks",
        name: "fields",
        label: "To be cleared",
        options: IMAGES.map((name) => ({ value: name, label: name.replace("_", " "), hint: guild[name] === null ? "not set" : "" })),
        value: [],
        least: "Choose what is to be cleared.",
      },
    ],
    button: "Clear",
    danger: true,
  }),
  changeGuildSettings: change("guild:update:settings", {
    label: "Change the settings",
    text: () => "Only what you change is sent.",
    fields: ({ guild }) => [
      choice("verification_level", "Asked of members", guild.verification_level, VERIFICATION_LEVELS),
      choice("mfa_level", "Second factor for moderation", guild.mfa_level, ["not needed", "needed"]),
      choice("explicit_content_filter", "Filter of explicit content", guild.explicit_content_filter, ["nobody", "members without roles", "everybody"]),
      choice("default_message_notifications", "Notifications", guild.default_message_notifications, ["every message", "mentions only"]),
      { kind: "switch", name: "nsfw", label: "Not for children", value: guild.nsfw, changed: true },
      { kind: "number", name: "content_warning_level", label: "Level of the content warning", min: 0, value: guild.content_warning_level, changed: true },
      { kind: "text", name: "content_warning_text", label: "Text of the content warning", max: 200, value: guild.content_warning_text ?? "", clears: true, changed: true },
      { kind: "mask", name: "disabled_operations", label: "Switched off", table: DISABLED_OPERATIONS, value: guild.disabled_operations, changed: true },
    ],
    button: "Change the settings",
  }),
  deleteGuild: {
    label: "Delete the guild",
    acls: ["guild:delete"],
    method: "DELETE",
    path: GUILD,
    text: ({ guild }) => `“${guild.name}” and everything in it is deleted for everybody. This cannot be taken back.`,
    typed: ({ guild }) => guild.id,
    button: "Delete the guild",
    danger: true,
    done: () => "The guild is deleted.",
  },
  reloadGuild: {
    label: "Read it from the store again",
    acls: ["guild:reload"],
    method: "POST",
    path: `${GUILD}/reload`,
    text: () => "The gateway forgets what it has of the guild in memory and reads it anew; its sessions stay.",
    button: "Read again",
    done: () => "The guild is read anew.",
  },
  shutDownGuild: {
    label: "Drop it from memory",
    acls: ["guild:shutdown"],
    method: "POST",
    path: `${GUILD}/shutdown`,
    text: () => "Where sessions need the guild it is read again at once.",
    button: "Drop",
    done: () => "The guild is dropped from memory.",
  },
  buildGuildArchive: {
    label: "Build an archive",
    acls: ["archive:trigger:guild"],
    method: "POST",
    path: `${GUILD}/archives`,
    text: () => "A job puts together everything that the instance has of the guild, to be downloaded.",
    fields: () => [{ kind: "switch", name: "include_attachments", label: "With the uploaded files", value: false, hint: "Larger, and slower to build." }],
    button: "Build the archive",
    done: () => "The archive is being built.",
  },
  addMember: {
    label: "Add a member",
    acls: ["guild:force_add_member"],
    method: "PUT",
    path: `${GUILD}/members/{user_id}`,
    text: () => "The account becomes a member, whether or not it wants to.",
    fields: () => [accountId("user_id", "ID of the account")],
    inPath: ["user_id"],
    bodiless: true,
    button: "Add",
    done: () => "The account is a member.",
  },
  kickMember: {
    label: "Remove",
    acls: ["guild:kick_member"],
    method: "DELETE",
    path: `${GUILD}/members/{user_id}`,
    text: ({ name }) => `${name} is no member any more, and can come back with an invite.`,
    button: "Remove",
    danger: true,
    done: () => "The member is removed.",
  },
  banMember: {
    label: "Ban from the guild",
    acls: ["guild:ban_member"],
    method: "PUT",
    path: `${GUILD}/bans/{user_id}`,
    text: () => "The account is no member any more and cannot come back. This is the guild's ban: elsewhere the account goes on.",
    fields: ({ userId }) => [
      userId ? { kind: "fixed", name: "user_id", label: "Account", value: userId, words: userId } : accountId("user_id", "ID of the account"),
      { kind: "text", name: "reason", label: "Reason in the guild's audit log", max: 512 },
      { kind: "choice", name: "delete_message_seconds", label: "Messages that are deleted", number: true, options: DELETED, value: "0" },
      { kind: "number", name: "ban_duration_seconds", label: "Seconds until the ban ends", min: 0, hint: "Left empty, it does not end." },
    ],
    inPath: ["user_id"],
    button: "Ban from the guild",
    danger: true,
    done: () => "The account is banned from the guild.",
  },
  liftGuildBan: {
    label: "Lift a ban of the guild",
    acls: ["guild:ban_member"],
    method: "DELETE",
    path: `${GUILD}/bans/{user_id}`,
    text: () => "The account can come back with an invite.",
    fields: () => [accountId("user_id", "ID of the account")],
    inPath: ["user_id"],
    bodiless: true,
    button: "Lift the ban",
    done: () => "The guild's ban is lifted.",
  },
  purgeEmoji: {
    label: "Delete",
    acls: ["asset:purge"],
    method: "DELETE",
    path: `${GUILD}/emojis/{emoji_id}`,
    text: ({ expression }) => `The emoji “${expression.name}” and its image are deleted.`,
    button: "Delete",
    danger: true,
    done: () => "The emoji is deleted.",
  },
  purgeSticker: {
    label: "Delete",
    acls: ["asset:purge"],
    method: "DELETE",
    path: `${GUILD}/stickers/{sticker_id}`,
    text: ({ expression }) => `The sticker “${expression.name}” and its image are deleted.`,
    button: "Delete",
    danger: true,
    done: () => "The sticker is deleted.",
  },
};
