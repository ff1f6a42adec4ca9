// A copy of a message for another channel or conversation.

import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { makeChannelChoice } from "./channel_choice.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const WRITTEN = new Set([0, 1, 2, 3, 5, 10, 11, 12, 999]);

/** @param {{app: App, message: import("wire").Message}} parts */
export function open({ app, message }) {
  const { store, acts, layers } = app;
  const all = [...store.read.channels.values()].filter(
    (channel) => WRITTEN.has(channel.type) && (!channel.guild_id || may(store.read, channel, BITS.SEND_MESSAGES)),
  );
  const choice = makeChannelChoice(store, all, { search: t("forward.search"), where: t("forward.where") });
  const run = async () => {
    if (choice.chosen() === "") return false;
    await acts.messages.forward(choice.chosen(), message);
    layers.toast(t("forward.done"));
    return true;
  };
  layers.dialog({
    title: t("forward.title"),
    content: choice.element,
    actions: [{ label: t("forward.send"), run }],
  });
}
