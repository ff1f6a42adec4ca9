// What is published in an announcement channel comes to another channel as well.

import { h } from "../../base/dom.js";
import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { makeChannelChoice } from "./channel_choice.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const FOLLOWING = new Set([0, 5]);

/** @param {{app: App, channelId: string}} parts */
export function open({ app, channelId }) {
  const { store, acts, layers } = app;
  const followed = store.read.channels.get(channelId);
  if (!followed) return;
  const name = nameOfChannel(store.read, followed);
  const isHere = (/** @type {import("../../store/shapes.js").Channel} */ one) => one.guild_id === followed.guild_id;
  const all = [...store.read.channels.values()].filter(
    (channel) =>
      channel.id !== channelId && FOLLOWING.has(channel.type) && may(store.read, channel, BITS.MANAGE_WEBHOOKS),
  );
  // The community's own before others.
  all.sort((one, other) => Number(isHere(other)) - Number(isHere(one)));
  const choice = makeChannelChoice(store, all, { search: t("forward.search"), where: t("follow.where") });
  const words = h("p", { class: "muted" }, all.length > 0 ? t("follow.words", { name }) : t("follow.nowhere"));
  const run = async () => {
    if (choice.chosen() === "") return false;
    await acts.messages.follow(channelId, choice.chosen());
    layers.toast(t("follow.done", { name }));
    return true;
  };
  const content = all.length > 0 ? h("div", {}, words, choice.element) : words;
  layers.dialog({
    title: t("follow.title"),
    content,
    actions: all.length > 0 ? [{ label: t("follow.act"), run }] : [],
  });
}
