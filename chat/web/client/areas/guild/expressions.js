// Emoji and stickers of a guild.

import { h } from "../../base/dom.js";
import { load } from "../../views/settings/loading.js";
import { t } from "../../words/catalogue.js";
import { fileField } from "../../views/dialogs/file_field.js";
import { dataAddress } from "../../base/data_address.js";
import { field, input } from "./fields.js";
import { listPage } from "./lists.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const PICTURES = "image/png,image/jpeg,image/gif,image/webp";

/**
 * @typedef {object} Kind What emoji and stickers differ in.
 * @property {"emojis" | "stickers"} kind
 * @property {Record<string, string>} name Of the field.
 * @property {string} hint
 * @property {string} add
 * @property {string} none
 * @property {number} size Of the picture in its row.
 * @property {(name: string) => string} shown
 */

/** @param {App} app @param {string} guildId */
export function emojiPage(app, guildId) {
  return expressionPage(app, guildId, {
    kind: "emojis",
    name: { minlength: "2", pattern: "[A-Za-z0-9_]+" },
    hint: t("emoji_settings.name_hint"),
    add: t("emoji_settings.add"),
    none: t("emoji_settings.none"),
    size: 32,
    shown: (name) => `:${name}:`,
  });
}

/** @param {App} app @param {string} guildId */
export function stickerPage(app, guildId) {
  return expressionPage(app, guildId, {
    kind: "stickers",
    name: { minlength: "2" },
    hint: t("sticker_settings.name_hint"),
    add: t("sticker_settings.add"),
    none: t("sticker_settings.none"),
    size: 80,
    shown: (name) => name,
  });
}

/** @param {App} app @param {string} guildId @param {Kind} parts */
function expressionPage(app, guildId, { kind, name: attributes, hint, add, none, size, shown }) {
  const { store, acts } = app;
  const { guildSettings } = acts;
  const name = input({ required: "", maxlength: "32", ...attributes }, "");
  const { element: choice, input: file, show } = fileField("emoji-file", t("emoji_settings.file"), PICTURES);
  const form = h(
    "form",
    { class: "emoji-form" },
    field("emoji-name", t("emoji_settings.name"), name, hint),
    choice,
    h("button", { type: "submit", class: "button primary" }, add),
  );
  file.addEventListener("change", () => {
    const chosen = file.files?.[0];
    if (chosen && name.value === "")
      name.value = chosen.name
        .replace(/\.\w+$/, "")
        .replace(/\W+/g, "_")
        .slice(0, 32);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const chosen = file.files?.[0];
    if (!chosen) return file.click();
    try {
      await guildSettings.makeExpression(guildId, kind, name.value.trim(), await dataAddress(chosen));
      form.reset();
      show();
    } catch (error) {
      app.report(error);
    }
    return undefined;
  });
  const page = listPage(app, {
    load: () => Promise.resolve(store.read.guilds.get(guildId)?.[kind] ?? []),
    none,
    above: [form],
    row(one) {
      const picture = h("img", { alt: "", width: `${size}`, height: `${size}`, loading: "lazy" });
      picture.src = `/media/${kind}/${one.id}.webp?size=${size > 32 ? 160 : 96}`;
      return {
        words: [h("span", { class: "emoji-row" }, picture, h("bdi", {}, shown(one.name)))],
        label: t("emoji_settings.remove", { name: one.name }),
        remove: () => guildSettings.deleteExpression(guildId, kind, one.id),
      };
    },
  });
  const unwatch = store.watch([`guild:${guildId}`], () => load(app, page.draw));
  return { element: page.element, stop: unwatch };
}
