// What roles may, in words, by what it is about.

import { BITS } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";

/** @type {readonly {words: () => string, entries: readonly (readonly [bigint, () => string])[]}[]} */
export const PERMISSIONS = [
  {
    words: () => t("permissions.community"),
    entries: [
      [BITS.ADMINISTRATOR, () => t("permissions.administrator")],
      [BITS.MANAGE_GUILD, () => t("permissions.manage_guild")],
      [BITS.MANAGE_ROLES, () => t("permissions.manage_roles")],
      [BITS.MANAGE_CHANNELS, () => t("permissions.manage_channels")],
      [BITS.MANAGE_WEBHOOKS, () => t("permissions.manage_webhooks")],
      [BITS.MANAGE_EXPRESSIONS, () => t("permissions.manage_expressions")],
      [BITS.VIEW_AUDIT_LOG, () => t("permissions.view_audit_log")],
      [BITS.CREATE_INSTANT_INVITE, () => t("permissions.invite")],
    ],
  },
  {
    words: () => t("permissions.moderation"),
    entries: [
      [BITS.KICK_MEMBERS, () => t("permissions.kick")],
      [BITS.BAN_MEMBERS, () => t("permissions.ban")],
      [BITS.MODERATE_MEMBERS, () => t("permissions.time_out")],
      [BITS.MANAGE_NICKNAMES, () => t("permissions.nicknames")],
      [BITS.MANAGE_MESSAGES, () => t("permissions.manage_messages")],
      [BITS.MANAGE_THREADS, () => t("permissions.manage_threads")],
      [BITS.PIN_MESSAGES, () => t("permissions.pin")],
    ],
  },
  {
    words: () => t("permissions.text"),
    entries: [
      [BITS.VIEW_CHANNEL, () => t("permissions.view")],
      [BITS.READ_MESSAGE_HISTORY, () => t("permissions.history")],
      [BITS.SEND_MESSAGES, () => t("permissions.send")],
      [BITS.SEND_MESSAGES_IN_THREADS, () => t("permissions.send_in_threads")],
      [BITS.CREATE_PUBLIC_THREADS, () => t("permissions.public_threads")],
      [BITS.CREATE_PRIVATE_THREADS, () => t("permissions.private_threads")],
      [BITS.ATTACH_FILES, () => t("permissions.attach")],
      [BITS.EMBED_LINKS, () => t("permissions.embed")],
      [BITS.ADD_REACTIONS, () => t("permissions.react")],
      [BITS.USE_EXTERNAL_EMOJIS, () => t("permissions.external_emoji")],
      [BITS.MENTION_EVERYONE, () => t("permissions.mention")],
      [BITS.BYPASS_SLOWMODE, () => t("permissions.slow_mode")],
      [BITS.CHANGE_NICKNAME, () => t("permissions.own_nickname")],
    ],
  },
];
