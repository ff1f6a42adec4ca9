// One more thread, by itself or below a message.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { quoted } from "../../views/names/quoted.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const NAME_MAXIMUM = 100;
const PUBLIC = 11;

/** @param {{app: App, guildId: string, channelId: string, message: import("wire").Message | null}} parts */
export function open({ app, guildId, channelId, message }) {
  startThread(app, guildId, channelId, message);
}

/**
 * @param {App} app
 * @param {string} guildId
 * @param {string} channelId
 * @param {import("wire").Message | null} message The one that it begins with, or none.
 */
export function startThread(app, guildId, channelId, message) {
  const name = /** @type {HTMLInputElement} */ (
    h("input", {
      class: "input",
      id: "thread-name",
      required: "",
      maxlength: String(NAME_MAXIMUM),
      autocomplete: "off",
    })
  );
  if (message) name.value = [...quoted(message.content, { store: app.store, guildId })].slice(0, 40).join("");
  const run = async () => {
    if (!name.reportValidity()) return false;
    const { threads } = app.acts;
    const thread = message
      ? await threads.startFrom(channelId, message.id, name.value.trim())
      : await threads.start(channelId, name.value.trim(), PUBLIC);
    app.store.put((state, touch) => {
      if (!state.channels.has(thread.id)) state.channels.set(thread.id, thread);
      touch(`channel:${thread.id}`);
    });
    app.go(`/channels/${guildId}/${thread.id}`);
    return true;
  };
  app.layers.dialog({
    title: t("threads.start"),
    content: h("div", { class: "field" }, h("label", { for: "thread-name" }, t("new_channel.name")), name),
    actions: [{ label: t("threads.start"), run }],
  });
}
