// What an administrator can do to a guild; the rows are those of admin_account_actions.js. One operation changes a guild,
// and each of its fields asks for a permission of its own.

import { DISABLED_OPERATIONS, GUILD_FEATURES, VERIFICATION_LEVELS, inWords } from "./admin_registries.js";
import { t } from "./spoken.js";

const GUILD = "/v1/admin/guilds/{guild_id}";

/** @typedef {import("./admin_fields.js").Field} Field */
/** @typedef {{guild: import("wire").AdminGuildDetails, params?: Record<string, string>}} GuildContext */
/** @typedef {GuildContext & {name: string}} MemberContext */
/** @typedef {GuildContext & {userId: string | null}} BanContext */
/** @typedef {GuildContext & {expression: {name: string}}} ExpressionContext */
/** @typedef {import("./admin_dialog.js").Row<GuildContext, "PATCH", typeof GUILD>} Change */

/**
 * @type {<Method extends string, Path extends string, C extends GuildContext = GuildContext>(
 *   row: import("./admin_dialog.js").Row<C, Method, Path>
 * ) => import("./admin_dialog.js").Row<C, Method, Path>}
 */
const row = (one) => one;

/** @type {(acl: Change["acls"][number], row: Pick<Change, "label" | "text" | "fields" | "button" | "danger">) => Change} */
const change = (acl, one) => ({ acls: [acl], method: "PATCH", path: GUILD, done: () => t("The community is changed."), ...one });

/** @type {(name: string, label: string) => Field} */
const accountId = (name, label) => ({ kind: "text", name, label, max: 20, inputmode: "numeric", required: true });

/** @type {(name: string, label: string, value: number, words: readonly string[]) => Field} */
const choice = (name, label, value, words) => ({
  kind: "choice",
  name,
  label,
  number: true,
  changed: true,
  value: String(value),
  options: words.map((one, index) => [String(index), one]),
});

export const IMAGES = /** @type {const} */ (["icon", "banner", "splash", "embed_splash"]);

/** @type {[string, string][]} */
const DELETED = [
  ["0", t("None")],
  ["3600", t("Of the last hour")],
  ["86400", t("Of the last day")],
  ["604800", t("Of the last week")],
];

export const GUILD_ACTIONS = {
  renameGuild: change("guild:update:name", {
    label: t("Change the name"),
    text: () => t("Every member sees the new name at once."),
    fields: ({ guild }) => [{ kind: "text", name: "name", label: t("Name"), max: 100, required: true, value: guild.name }],
    button: t("Change the name"),
  }),
  changeVanity: change("guild:update:vanity", {
    label: t("Change the invite code of its own"),
    text: () => t("The former code stops working. Left empty, the community has none."),
    fields: ({ guild }) => [{ kind: "text", name: "vanity_url_code", label: t("Code"), max: 256, value: guild.vanity_url_code ?? "", clears: true }],
    button: t("Change the code"),
  }),
  transferGuild: change("guild:transfer_ownership", {
    label: t("Give it to another owner"),
    text: () => t("The new owner has to be a member, and can do anything in the community."),
    fields: () => [accountId("new_owner_id", t("ID of the new owner"))],
    button: t("Give it away"),
    danger: true,
  }),
  changeFeatures: change("guild:update:features", {
    label: t("Change the features"),
    text: () => t("Only what you tick or untick is changed. The UNAVAILABLE features hide the community from its members."),
    fields: ({ guild }) => [{ kind: "difference", names: ["add_features", "remove_features"], label: t("Features"), options: GUILD_FEATURES, value: guild.features }],
    button: t("Change the features"),
  }),
  clearImages: change("guild:update:settings", {
    label: t("Clear images"),
    text: () => t("What is cleared is gone; the community can set it anew."),
    fields: ({ guild }) => [
      {
        kind: "checks",
        name: "fields",
        label: t("To be cleared"),
        options: IMAGES.map((name) => ({ value: name, label: inWords(name), hint: guild[name] === null ? t("not set") : "" })),
        value: [],
        least: t("Choose what is to be cleared."),
      },
    ],
    button: t("Clear"),
    danger: true,
  }),
  changeGuildSettings: change("guild:update:settings", {
    label: t("Change the settings"),
    text: () => t("Only what you change is sent."),
    fields: ({ guild }) => [
      choice("verification_level", t("Asked of members"), guild.verification_level, VERIFICATION_LEVELS),
      choice("mfa_level", t("Second factor for moderation"), guild.mfa_level, [t("not needed"), t("needed")]),
      choice("explicit_content_filter", t("Filter of explicit content"), guild.explicit_content_filter, [t("nobody"), t("members without roles"), t("everybody")]),
      choice("default_message_notifications", t("Notifications"), guild.default_message_notifications, [t("every message"), t("mentions only")]),
      { kind: "switch", name: "nsfw", label: t("Not for children"), value: guild.nsfw, changed: true },
      { kind: "number", name: "content_warning_level", label: t("Level of the content warning"), min: 0, value: guild.content_warning_level, changed: true },
      { kind: "text", name: "content_warning_text", label: t("Text of the content warning"), max: 200, value: guild.content_warning_text ?? "", clears: true, changed: true },
      { kind: "mask", name: "disabled_operations", label: t("Switched off"), table: DISABLED_OPERATIONS, value: guild.disabled_operations, changed: true },
    ],
    button: t("Change the settings"),
  }),
  deleteGuild: row({
    label: t("Delete the community"),
    acls: ["guild:delete"],
    method: "DELETE",
    path: GUILD,
    text: ({ guild }) => t("“{name}” and everything in it is deleted for everybody. This cannot be taken back.", { name: guild.name }),
    typed: ({ guild }) => guild.id,
    button: t("Delete the community"),
    danger: true,
    done: () => t("The community is deleted."),
  }),
  reloadGuild: row({
    label: t("Read it from the store again"),
    acls: ["guild:reload"],
    method: "POST",
    path: `${GUILD}/reload`,
    text: () => t("The gateway forgets what it has of the community in memory and reads it anew; its sessions stay."),
    button: t("Read again"),
    done: () => t("The community is read anew."),
  }),
  shutDownGuild: row({
    label: t("Drop it from memory"),
    acls: ["guild:shutdown"],
    method: "POST",
    path: `${GUILD}/shutdown`,
    text: () => t("Where sessions need the community it is read again at once."),
    button: t("Drop"),
    done: () => t("The community is dropped from memory."),
  }),
  buildGuildArchive: row({
    label: t("Build an archive"),
    acls: ["archive:trigger:guild"],
    method: "POST",
    path: `${GUILD}/archives`,
    text: () => t("A job puts together everything that the instance has of the community, to be downloaded."),
    fields: () => [{ kind: "switch", name: "include_attachments", label: t("With the uploaded files"), value: false, hint: t("Larger, and slower to build.") }],
    button: t("Build the archive"),
    done: () => t("The archive is being built."),
  }),
  addMember: row({
    label: t("Add a member"),
    acls: ["guild:force_add_member"],
    method: "PUT",
    path: `${GUILD}/members/{user_id}`,
    text: () => t("The account becomes a member, whether or not it wants to."),
    fields: () => [accountId("user_id", t("ID of the account"))],
    inPath: ["user_id"],
    bodiless: true,
    button: t("Add"),
    done: () => t("The account is a member."),
  }),
  kickMember: row({
    label: t("Remove"),
    acls: ["guild:kick_member"],
    method: "DELETE",
    path: `${GUILD}/members/{user_id}`,
    text: (/** @type {MemberContext} */ { name }) => t("{name} is no member any more, and can come back with an invite.", { name }),
    button: t("Remove"),
    danger: true,
    done: () => t("The member is removed."),
  }),
  banMember: row({
    label: t("Ban from the community"),
    acls: ["guild:ban_member"],
    method: "PUT",
    path: `${GUILD}/bans/{user_id}`,
    text: () => t("The account is no member any more and cannot come back. This is the community's ban: elsewhere the account goes on."),
    fields: (/** @type {BanContext} */ { userId }) => [
      userId ? { kind: "fixed", name: "user_id", label: t("Account"), value: userId, words: userId } : accountId("user_id", t("ID of the account")),
      { kind: "text", name: "reason", label: t("Reason in the community's audit log"), max: 512 },
      { kind: "choice", name: "delete_message_seconds", label: t("Messages that are deleted"), number: true, options: DELETED, value: "0" },
      { kind: "number", name: "ban_duration_seconds", label: t("Seconds until the ban ends"), min: 0, hint: t("Left empty, it does not end.") },
    ],
    inPath: ["user_id"],
    button: t("Ban from the community"),
    danger: true,
    done: () => t("The account is banned from the community."),
  }),
  liftGuildBan: row({
    label: t("Lift a ban of the community"),
    acls: ["guild:ban_member"],
    method: "DELETE",
    path: `${GUILD}/bans/{user_id}`,
    text: () => t("The account can come back with an invite."),
    fields: () => [accountId("user_id", t("ID of the account"))],
    inPath: ["user_id"],
    bodiless: true,
    button: t("Lift the ban"),
    done: () => t("The community's ban is lifted."),
  }),
  purgeEmoji: row({
    label: t("Delete"),
    acls: ["asset:purge"],
    method: "DELETE",
    path: `${GUILD}/emojis/{emoji_id}`,
    text: (/** @type {ExpressionContext} */ { expression }) => t("The emoji “{name}” and its image are deleted.", { name: expression.name }),
    button: t("Delete"),
    danger: true,
    done: () => t("The emoji is deleted."),
  }),
  purgeSticker: row({
    label: t("Delete"),
    acls: ["asset:purge"],
    method: "DELETE",
    path: `${GUILD}/stickers/{sticker_id}`,
    text: (/** @type {ExpressionContext} */ { expression }) => t("The sticker “{name}” and its image are deleted.", { name: expression.name }),
    button: t("Delete"),
    danger: true,
    done: () => t("The sticker is deleted."),
  }),
};
