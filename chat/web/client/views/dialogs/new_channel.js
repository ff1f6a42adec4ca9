// One more channel, or category.

import { h } from "../../base/dom.js";
import { BITS, guildPermissions } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { privacyFields } from "./private_channel.js";

/** @typedef {import("../shell/app.js").App} App */

const NAME_MAXIMUM = 100;

/** @type {readonly (readonly [number, (isHeard: boolean) => string])[]} kinds by their types (guilds.md, Channels) */
const KINDS = [
  [0, () => t("new_channel.text")],
  [2, (isHeard) => (isHeard ? t("new_channel.voice") : t("new_channel.voice_silent"))],
  [15, () => t("new_channel.forum")],
  [5, () => t("new_channel.announcement")],
  [4, () => t("new_channel.category")],
];

/**
 * @param {App} app
 * @param {string} guildId
 * @param {string | null} parentId
 */
export function newChannel(app, guildId, parentId) {
  const name = /** @type {HTMLInputElement} */ (
    h("input", {
      class: "input",
      id: "channel-name",
      required: "",
      maxlength: String(NAME_MAXIMUM),
      autocomplete: "off",
    })
  );
  const kinds = KINDS.filter(([type]) => parentId === null || type !== 4).map(([type, words], at) => {
    const radio = h("input", { type: "radio", name: "kind", value: String(type), ...(at === 0 && { checked: "" }) });
    return h("label", { class: "check" }, radio, words(app.voice.isThere));
  });
  const choice = h("fieldset", { class: "field" }, h("legend", {}, t("new_channel.kind")), ...kinds);
  const guild = app.store.read.guilds.get(guildId);
  const mayClose = guild && (guildPermissions(guild, app.store.read.session.me) & BITS.MANAGE_ROLES) !== 0n;
  const privacy = mayClose ? privacyFields(app, guildId, []) : null;
  const content = h(
    "div",
    {},
    h("div", { class: "field" }, h("label", { for: "channel-name" }, t("new_channel.name")), name),
    choice,
    ...(privacy ? [privacy.element] : []),
  );
  const run = async () => {
    if (!name.reportValidity()) return false;
    const checked = /** @type {HTMLInputElement | null} */ (choice.querySelector("input:checked"));
    const type = Number(checked?.value ?? 0);
    const overwrites = privacy?.wanted() ?? [];
    const body = {
      name: name.value.trim(),
      type,
      ...(parentId !== null && { parent_id: parentId }),
      ...(overwrites.length > 0 && { permission_overwrites: overwrites }),
    };
    const asked = /** @type {import("wire").CreateChannelBody} */ (body);
    const channel = await app.acts.guilds.createChannel(guildId, asked);
    if (type !== 4) visitChannel(app, guildId, channel.id);
    return true;
  };
  app.layers.dialog({ title: t("new_channel.title"), content, actions: [{ label: t("new_channel.make"), run }] });
}

/**
 * The channel is shown as soon as the gateway tells of it.
 * @param {App} app
 * @param {string} guildId
 * @param {string} channelId
 */
function visitChannel(app, guildId, channelId) {
  const { store } = app;
  const path = `/channels/${guildId}/${channelId}`;
  if (store.read.channels.has(channelId)) return app.go(path);
  const unwatch = store.watch([`channel:${channelId}`], () => {
    unwatch();
    app.go(path);
  });
  return undefined;
}
