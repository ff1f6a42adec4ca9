// Addresses at which programs write into channels of a guild.

import { h } from "../../base/dom.js";
import { orderedChannels } from "../../store/channels.js";
import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { plainName } from "../../views/names/people.js";
import { field, input, select } from "./fields.js";
import { listPage } from "./lists.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const NAME_MAXIMUM = 80;
const WRITTEN = new Set([0, 2, 5]);

/** @param {App} app @param {string} guildId */
export function webhooksPage(app, guildId) {
  const { store, acts, layers } = app;
  const { guildSettings } = acts;
  const channels = orderedChannels(store.read, guildId).filter(
    (channel) => WRITTEN.has(channel.type) && may(store.read, channel, BITS.MANAGE_WEBHOOKS),
  );
  const name = input({ required: "", maxlength: String(NAME_MAXIMUM) }, "");
  const choices = channels.map(
    (channel) => /** @type {const} */ ([channel.id, `#${nameOfChannel(store.read, channel)}`]),
  );
  const channel = select(choices, channels[0]?.id ?? "");
  const form = h(
    "form",
    { class: "emoji-form" },
    h("p", { class: "muted" }, t("webhooks.words")),
    field("webhook-name", t("new_guild.name"), name),
    field("webhook-channel", t("webhooks.channel"), channel),
    h("button", { type: "submit", class: "button primary" }, t("webhooks.make")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await guildSettings.makeWebhook(channel.value, name.value.trim());
      form.reset();
      await page.draw();
    } catch (error) {
      app.report(error);
    }
  });

  /** @param {import("wire").Webhook} webhook */
  async function copy({ id, token }) {
    await navigator.clipboard.writeText(`${location.origin}/v1/webhooks/${id}/${token}`);
    layers.toast(t("webhooks.copied"));
  }

  const page = listPage(app, {
    load: () => guildSettings.webhooks(guildId),
    none: t("webhooks.none"),
    above: [form],
    row(webhook) {
      const called = plainName(webhook.name ?? "");
      const place = store.read.channels.get(webhook.channel_id);
      const press = () => void copy(webhook).catch(app.report);
      const label = t("webhooks.copy_of", { name: called });
      const plain = { type: "button", class: "button small-button webhook-copy", "aria-label": label };
      const button = h("button", { ...plain, click: press }, t("webhooks.copy"));
      return {
        words: [
          h("bdi", { class: "clip panel-name" }, called),
          h("span", { class: "meta clip" }, place ? `#${nameOfChannel(store.read, place)}` : ""),
          ...(webhook.token ? [button] : []),
        ],
        label: t("webhooks.remove", { name: called }),
        remove: () => guildSettings.deleteWebhook(webhook.id),
      };
    },
  });
  return page;
}
