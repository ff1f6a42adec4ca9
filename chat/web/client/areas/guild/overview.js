// Name, pictures and habits of a guild.

import { fill, h } from "../../base/dom.js";
import { orderedChannels } from "../../store/channels.js";
import { t } from "../../words/catalogue.js";
import { fileField } from "../../views/dialogs/file_field.js";
import { dataAddress } from "../../base/data_address.js";
import { ageChoices, ageOf } from "../../views/names/ages.js";
import { faceOf } from "../../views/names/guilds.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { field, input, select, settingsForm } from "./fields.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const PICTURES = "image/png,image/jpeg,image/gif,image/webp";
const LEVELS = [0, 1, 2, 3, 4];

/** @param {App} app @param {string} guildId */
export function overviewPage({ store, acts }, guildId) {
  /** @returns {Partial<import("wire").Guild>} */
  const properties = () => store.read.guilds.get(guildId)?.properties ?? {};
  const texts = orderedChannels(store.read, guildId).filter(({ type }) => type === 0 || type === 5);
  const channels = texts.map(
    (channel) => /** @type {const} */ ([channel.id, `#${nameOfChannel(store.read, channel)}`]),
  );
  const name = input({ required: "", maxlength: "100" }, "");
  const system = select([["", t("settings.none")], ...channels], "");
  const notified = select(
    [
      ["0", t("settings.every_message")],
      ["1", t("settings.only_mentions")],
    ],
    "0",
  );
  const level = select(
    LEVELS.map((one) => /** @type {const} */ ([String(one), VERIFICATION[one]?.() ?? ""])),
    "0",
  );
  const kept = select(ageChoices(t("settings.kept_instance"), properties()["message_retention_days"]), "");
  const face = h("span", { class: "guild-set-face" });
  const { element: choice, input: file, show } = fileField("guild-icon", t("new_guild.picture"), PICTURES);
  const away = h("button", { type: "button", class: "button small-button" }, t("settings.no_picture"));
  /** @type {string | null | undefined} undefined: as it is */
  let picture;

  function draw() {
    name.value = properties()["name"] ?? "";
    system.value = properties()["system_channel_id"] ?? "";
    notified.value = String(properties()["default_message_notifications"] ?? 0);
    level.value = String(properties()["verification_level"] ?? 0);
    kept.value = String(properties()["message_retention_days"] ?? "");
    picture = undefined;
    file.value = "";
    show();
    shown();
  }

  function shown() {
    const guild = store.read.guilds.get(guildId);
    if (typeof picture === "string") {
      const image = h("img", { alt: "", width: "80", height: "80" });
      image.addEventListener("error", () => image.remove(), { once: true });
      image.src = picture;
      fill(face, image);
    } else if (guild)
      fill(face, faceOf(picture === null ? { ...guild.properties, icon: null } : guild.properties));
    away.hidden = picture === null || (picture === undefined && !properties()["icon"]);
  }

  file.addEventListener("change", async () => {
    const chosen = file.files?.[0];
    if (!chosen) return;
    picture = await dataAddress(chosen);
    shown();
    form.settle();
  });
  away.addEventListener("click", () => {
    picture = null;
    shown();
    form.settle();
  });
  const content = h(
    "div",
    { class: "guild-set-card" },
    h(
      "div",
      { class: "guild-set-picture" },
      face,
      h("div", {}, choice, away),
    ),
    field("guild-name", t("new_guild.name"), name),
    field("guild-system", t("settings.system"), system, t("settings.system_hint")),
    field("guild-notified", t("settings.notified"), notified),
    field("guild-level", t("settings.verification"), level),
    field("guild-kept", t("settings.kept"), kept, t("settings.kept_hint")),
  );
  const read = () => ({
    name: name.value.trim(),
    system_channel_id: system.value || null,
    default_message_notifications: Number(notified.value),
    verification_level: Number(level.value),
    message_retention_days: ageOf(kept.value),
    ...(picture !== undefined && { icon: picture }),
  });
  draw();
  const form = settingsForm({
    content,
    read,
    undo: draw,
    async save(changes) {
      await acts.guildSettings.change(guildId, changes);
      picture = undefined;
    },
  });
  const unwatch = store.watch([`guild:${guildId}`], () => {
    if (form.isChanged()) return;
    draw();
    form.keep();
  });
  return { element: form.element, isChanged: form.isChanged, stop: unwatch };
}

/** @type {readonly (() => string)[]} */
const VERIFICATION = [
  () => t("settings.level_none"),
  () => t("settings.level_low"),
  () => t("settings.level_medium"),
  () => t("settings.level_high"),
  () => t("settings.level_highest"),
];
