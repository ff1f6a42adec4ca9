// Emoji of a guild.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { dataAddress } from "../../views/dialogs/new_guild.js";
import { field, input } from "./fields.js";
import { listPage } from "./lists.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const PICTURES = "image/png,image/jpeg,image/gif,image/webp";

/** @param {App} app @param {string} guildId */
export function emojiPage(app, guildId) {
  const { store, acts } = app;
  const { guildSettings } = acts;
  const name = input({ required: "", minlength: "2", maxlength: "32", pattern: "[A-Za-z0-9_]+" }, "");
  const file = /** @type {HTMLInputElement} */ (h("input", { type: "file", accept: PICTURES, required: "" }));
  const form = h(
    "form",
    { class: "emoji-form" },
    field("emoji-name", t("emoji_settings.name"), name, t("emoji_settings.name_hint")),
    field("emoji-file", t("emoji_settings.file"), file),
    h("button", { type: "submit", class: "button primary" }, t("emoji_settings.add")),
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
    if (!chosen) return;
    try {
      await guildSettings.makeEmoji(guildId, name.value.trim(), await dataAddress(chosen));
      form.reset();
    } catch (error) {
      app.report(error);
    }
  });
  const page = listPage(app, {
    load: () => Promise.resolve(store.read.guilds.get(guildId)?.emojis ?? []),
    none: t("emoji_settings.none"),
    above: [form],
    row(emoji) {
      const picture = h("img", { alt: "", width: "32", height: "32", loading: "lazy" });
      picture.src = `/media/emojis/${emoji.id}.webp?size=96`;
      return {
        words: [h("span", { class: "emoji-row" }, picture, `:${emoji.name}:`)],
        label: t("emoji_settings.remove", { name: emoji.name }),
        remove: () => guildSettings.deleteEmoji(guildId, emoji.id),
      };
    },
  });
  const unwatch = store.watch([`guild:${guildId}`], () => void page.draw());
  return { element: page.element, stop: unwatch };
}
