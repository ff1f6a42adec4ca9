// What can be done with a channel from its entry in a list.

import { h } from "../../base/dom.js";
import { CATEGORY } from "../../store/channels.js";
import { BITS, may } from "../../store/permissions.js";
import { isChannelMuted } from "../../store/unread.js";
import { t } from "../../words/catalogue.js";
import { invite } from "../dialogs/invite.js";
import { askForPrivacy } from "../dialogs/private_channel.js";
import { nameOfChannel } from "../names/channels.js";

/** @typedef {import("../shell/app.js").App} App */
/** @typedef {import("../shell/menu.js").Entry} Entry */
/** @typedef {import("../../store/shapes.js").Channel} Channel */

/**
 * @param {App} app
 * @param {Channel} channel Of a guild.
 * @returns {(Entry | null)[]}
 */
export function channelEntries(app, channel) {
  const { store, acts } = app;
  const { id, guild_id: guildId = null } = channel;
  const told = (/** @type {Promise<unknown>} */ done) => void done.catch(app.report);
  const muted = isChannelMuted(store.read, channel, app.now());
  const isHead = channel.type === CATEGORY;
  const isThread = channel["thread_metadata"] !== undefined;
  /** @type {(Entry | null | false)[]} */
  const entries = [
    !isHead && { label: t("guild.mark_read"), icon: "check", run: () => told(acts.reads.markChannelRead(id)) },
    !isThread && {
      label: muted ? t("channels.unmute") : t("channels.mute"),
      icon: "mute",
      run: () => told(acts.guilds.muteChannel(guildId, id, !muted)),
    },
    null,
    !isHead && { label: t("menu.copy_link"), icon: "link", run: () => told(copyLink(app, channel)) },
    !isHead &&
      !isThread &&
      may(store.read, channel, BITS.CREATE_INSTANT_INVITE) && {
        label: t("guild.invite"),
        icon: "invite",
        run: () => void invite(app, channel),
      },
    null,
    !isThread &&
      guildId !== null &&
      may(store.read, channel, BITS.MANAGE_CHANNELS) && {
        label: isHead ? t("channels.edit_category") : t("channels.edit"),
        icon: "edit",
        run: () => app.go(`/channels/${guildId}/settings/channels/${id}`),
      },
    !isThread &&
      may(store.read, channel, BITS.MANAGE_CHANNELS | BITS.MANAGE_ROLES) && {
        label: t("private.entry"),
        icon: "lock",
        run: () => askForPrivacy(app, channel),
      },
    null,
    !isThread &&
      may(store.read, channel, BITS.MANAGE_CHANNELS) && {
        label: t("channels.delete"),
        icon: "delete",
        kind: "danger",
        run: () => remove(app, channel),
      },
  ];
  return entries.filter((entry) => entry !== false);
}

/**
 * @param {App} app
 * @param {Channel} channel
 */
async function copyLink(app, { id, guild_id: guildId }) {
  await navigator.clipboard.writeText(`${location.origin}/channels/${guildId ?? "@me"}/${id}`);
  app.layers.toast(t("menu.link_copied"));
}

/**
 * @param {App} app
 * @param {Channel} channel
 */
function remove({ store, acts, layers }, channel) {
  layers.dialog({
    title: t("channels.delete_title", { name: nameOfChannel(store.read, channel) }),
    content: h("p", {}, channel.type === CATEGORY ? t("channels.delete_category") : t("channels.delete_words")),
    actions: [{ label: t("channels.delete"), kind: "danger", run: () => acts.guilds.deleteChannel(channel.id) }],
  });
}
