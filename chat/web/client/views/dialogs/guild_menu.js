// What can be done with a guild from its tile and from its name.

import { h } from "../../base/dom.js";
import { orderedChannels } from "../../store/channels.js";
import { BITS, guildPermissions, may } from "../../store/permissions.js";
import { isMuted } from "../../store/unread.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../names/people.js";
import { placeEntries } from "./folders.js";
import { invite } from "./invite.js";
import { newChannel } from "./new_channel.js";

/** @typedef {import("../shell/app.js").App} App */
/** @typedef {import("../shell/menu.js").Entry} Entry */

/** Who has one of these has something to set. */
const SETTINGS =
  BITS.MANAGE_GUILD |
  BITS.MANAGE_ROLES |
  BITS.MANAGE_CHANNELS |
  BITS.BAN_MEMBERS |
  BITS.VIEW_AUDIT_LOG |
  BITS.MANAGE_EXPRESSIONS;
const INVITED = new Set([0, 2, 5, 15, 16]);

/**
 * @param {App} app
 * @param {string} guildId
 * @returns {(Entry | null)[]}
 */
export function guildEntries(app, guildId) {
  const { store, acts } = app;
  const guild = store.read.guilds.get(guildId);
  if (!guild || guild.unavailable) return [];
  const mask = guildPermissions(guild, store.read.session.me);
  const muted = isMuted(store.read.guildSettings.get(guildId), app.now());
  const channel = invitingChannel(app, guildId);
  const isOwner = guild.properties["owner_id"] === store.read.session.me;
  const told = (/** @type {Promise<unknown>} */ done) => void done.catch(app.report);
  /** @type {(Entry | null | false | undefined)[]} */
  const entries = [
    { label: t("guild.mark_read"), icon: "check", run: () => told(acts.reads.markGuildRead(guildId)) },
    {
      label: muted ? t("guild.unmute") : t("guild.mute"),
      icon: "mute",
      run: () => told(acts.guilds.mute(guildId, !muted)),
    },
    ...placeEntries(app, guild),
    null,
    channel && { label: t("guild.invite"), icon: "invite", run: () => void invite(app, channel) },
    (mask & BITS.MANAGE_CHANNELS) !== 0n && {
      label: t("guild.new_channel"),
      icon: "add",
      run: () => newChannel(app, guildId, null),
    },
    (mask & SETTINGS) !== 0n && {
      label: t("guild.settings"),
      icon: "settings",
      run: () => app.go(`/channels/${guildId}/settings`),
    },
    null,
    !isOwner && { label: t("guild.leave"), icon: "leave", kind: "danger", run: () => leave(app, guildId) },
  ];
  return entries.filter((entry) => entry !== false && entry !== undefined);
}

/**
 * The first channel to which the person may invite.
 * @param {App} app
 * @param {string} guildId
 */
export function invitingChannel({ store }, guildId) {
  return orderedChannels(store.read, guildId).find(
    (channel) => INVITED.has(channel.type) && may(store.read, channel, BITS.CREATE_INSTANT_INVITE),
  );
}

/**
 * @param {App} app
 * @param {string} guildId
 */
function leave({ store, acts, layers }, guildId) {
  const name = plainName(store.read.guilds.get(guildId)?.properties["name"] ?? "");
  layers.dialog({
    title: t("guild.leave_title", { name }),
    content: h("p", {}, t("guild.leave_words")),
    actions: [{ label: t("guild.leave"), kind: "danger", run: () => acts.guilds.leave(guildId) }],
  });
}
