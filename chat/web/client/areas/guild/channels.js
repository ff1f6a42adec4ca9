// Channels of a guild: their order, by dragging, by keys and by buttons, and what each one is.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { CATEGORY, FORUMS, movedChannels, orderedChannels } from "../../store/channels.js";
import { t } from "../../words/catalogue.js";
import { newChannel } from "../../views/dialogs/new_channel.js";
import { ageChoices, ageOf } from "../../views/names/ages.js";
import { nameOfChannel, signOf } from "../../views/names/channels.js";
import { makeReorder } from "../../views/names/reorder.js";
import { field, input, select, settingsForm } from "./fields.js";
import { overwritesOf } from "./overwrites.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Channel} Channel */

const SLOWNESS = [0, 5, 10, 30, 60, 300, 900, 3600, 21600];
const MINUTE_S = 60;

/** @param {App} app @param {string} guildId */
export function channelsPage(app, guildId) {
  const { store, acts } = app;
  const list = h("ul", { class: "role-list", "aria-label": t("settings.channels") });
  const ground = h("section", { class: "role-ground" });
  const make = h(
    "button",
    { type: "button", class: "button", click: () => newChannel(app, guildId, null) },
    icon("add"),
    t("guild.new_channel"),
  );
  const element = h("div", { class: "roles" }, h("div", { class: "role-side" }, make, list), ground);
  /** @type {string | null} */
  let chosen = location.pathname.split("/")[5] ?? null;
  const seen = { roleId: guildId };
  /** @type {ReturnType<typeof channelForm> | null} */
  let form = null;

  /** Those of the same kind below the same category. @param {Channel} channel @param {Channel[]} all */
  function siblingsOf(channel, all) {
    return all.filter(
      (one) =>
        (one.parent_id ?? null) === (channel.parent_id ?? null) &&
        (one.type === CATEGORY) === (channel.type === CATEGORY),
    );
  }

  /** @param {Channel} channel @param {1 | -1} way */
  async function move(channel, way) {
    const siblings = siblingsOf(channel, orderedChannels(store.read, guildId));
    const at = siblings.findIndex(({ id }) => id === channel.id);
    const other = siblings[at + way];
    if (!other) return;
    const next = [...siblings];
    next.splice(at, 1);
    next.splice(at + way, 0, channel);
    await place(next.map(({ id }, position) => ({ id, position })));
  }

  /** @param {ReturnType<typeof movedChannels>} places */
  async function place(places) {
    try {
      await acts.guildSettings.moveChannels(guildId, places);
    } catch (error) {
      app.report(error);
      draw();
    }
  }

  const reorder = makeReorder(list, {
    move: (from, to) => void place(movedChannels(orderedChannels(store.read, guildId), from, to)),
    announce: app.announce,
  });

  function draw() {
    if (reorder.isHolding()) return;
    const all = orderedChannels(store.read, guildId);
    fill(list, ...all.map((one) => row(one, siblingsOf(one, all))));
    const channel = all.find(({ id }) => id === chosen) ?? all[0];
    if (!channel || form?.channel === channel || (form?.channel.id === channel.id && form.isChanged())) return;
    form = channelForm(app, guildId, channel, seen);
    fill(ground, form.whole);
    ground.ariaLabel = nameOfChannel(store.read, channel);
  }

  /** @param {Channel} channel @param {Channel[]} siblings */
  function row(channel, siblings) {
    const name = nameOfChannel(store.read, channel);
    const press = () => ((chosen = channel.id), draw());
    const sign = icon(channel.type === CATEGORY ? "folder" : signOf(channel));
    const button = h(
      "button",
      { type: "button", class: "channel-link", click: press },
      sign,
      h("span", { class: "clip" }, name),
    );
    button.dataset["key"] = channel.id;
    if (channel.id === chosen) button.setAttribute("aria-current", "true");
    const item = h(
      "li",
      { "data-order": "", draggable: "true" },
      button,
      step(channel, name, -1, siblings[0] === channel),
      step(channel, name, 1, siblings.at(-1) === channel),
    );
    item.classList.toggle("within", Boolean(channel.parent_id));
    return item;
  }

  /** @param {Channel} channel @param {string} name @param {1 | -1} way @param {boolean} isEnd */
  function step(channel, name, way, isEnd) {
    const label = way === -1 ? t("roles.up", { name }) : t("roles.down", { name });
    const button = h(
      "button",
      {
        type: "button",
        class: "icon-button small-icon role-step",
        "aria-label": label,
        title: label,
        click: () => void move(channel, way),
      },
      way === -1 ? "\u2191" : "\u2193",
    );
    button.dataset["key"] = `${channel.id}:${way}`;
    button.ariaDisabled = String(isEnd);
    return button;
  }

  const unwatch = store.watch(["*"], (topics) => {
    const isOurs = (/** @type {string} */ topic) =>
      topic === `channels:${guildId}` ||
      (topic.startsWith("channel:") && store.read.channels.get(topic.slice(8))?.guild_id === guildId);
    if ([...topics].some(isOurs)) draw();
  });
  draw();
  return { element, isChanged: () => form?.isChanged() ?? false, stop: unwatch };
}

/** @param {App} app @param {string} guildId @param {Channel} channel @param {{roleId: string}} seen */
function channelForm(app, guildId, channel, seen) {
  const { store, acts, layers } = app;
  const heads = orderedChannels(store.read, guildId).filter(({ type }) => type === CATEGORY);
  const isHead = channel.type === CATEGORY;
  const isForum = FORUMS.has(channel.type);
  /** @type {import("wire").ForumTag[]} */
  const known = channel["available_tags"] ?? [];
  const name = input({ required: "", maxlength: "100" }, "");
  const topic = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { class: "input", rows: "3", maxlength: "1024", dir: "auto" })
  );
  const parent = select(
    [
      ["", t("settings.none")],
      ...heads.map((head) => /** @type {const} */ ([head.id, nameOfChannel(store.read, head)])),
    ],
    "",
  );
  const slow = select(
    SLOWNESS.map((seconds) => /** @type {const} */ ([String(seconds), slowness(seconds)])),
    "0",
  );
  const kept = select(ageChoices(t("settings.kept_guild"), channel["message_retention_days"]), "");
  const tags = h("textarea", { class: "input", rows: "4", dir: "auto" });
  const adult = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));

  function draw() {
    name.value = channel.name ?? "";
    topic.value = channel["topic"] ?? "";
    parent.value = channel.parent_id ?? "";
    slow.value = String(channel["rate_limit_per_user"] ?? 0);
    kept.value = String(channel["message_retention_days"] ?? "");
    adult.checked = Boolean(channel["nsfw"]);
    tags.value = known.map(({ name: tag }) => tag).join("\n");
  }

  /** A tag whose name stays is the one that posts have already. */
  const wished = () =>
    tags.value
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .map((line) => known.find((tag) => tag.name === line) ?? { name: line });

  const read = () => ({
    name: name.value.trim(),
    ...(!isHead && {
      topic: topic.value.trim() || null,
      parent_id: parent.value || null,
      rate_limit_per_user: Number(slow.value),
      message_retention_days: ageOf(kept.value),
      nsfw: adult.checked,
    }),
    ...(isForum && { available_tags: wished() }),
  });
  const remove = () =>
    layers.dialog({
      title: t("channels.delete_title", { name: nameOfChannel(store.read, channel) }),
      content: h("p", {}, isHead ? t("channels.delete_category") : t("channels.delete_words")),
      actions: [{ label: t("channels.delete"), kind: "danger", run: () => acts.guilds.deleteChannel(channel.id) }],
    });
  const more = [
    field("channel-topic", t("settings.topic"), topic),
    field("channel-parent", t("settings.category"), parent),
    field("channel-slow", t("settings.slow"), slow, t("settings.slow_hint")),
    field("channel-kept", t("settings.kept"), kept, t("settings.kept_hint")),
    h("label", { class: "check" }, adult, t("settings.adult")),
    ...(isForum ? [field("channel-tags", t("channels.tags"), tags, t("channels.tags_hint"))] : []),
  ];
  const end = h("button", { type: "button", class: "button danger", click: remove }, t("channels.delete"));
  const content = h(
    "div",
    { class: "guild-set-card" },
    field("channel-title", t("new_guild.name"), name),
    ...(isHead ? [] : more),
    end,
  );
  draw();
  const form = settingsForm({
    content,
    read,
    undo: draw,
    save: (changes) => acts.guildSettings.changeChannel(channel.id, changes),
  });
  return { ...form, channel, whole: h("div", {}, form.element, overwritesOf(app, guildId, channel, seen)) };
}

/** @param {number} seconds */
function slowness(seconds) {
  if (seconds === 0) return t("settings.slow_off");
  if (seconds < MINUTE_S) return t("settings.seconds", { n: seconds });
  const minutes = seconds / MINUTE_S;
  return minutes < MINUTE_S
    ? t("moderation.minutes", { n: minutes })
    : t("moderation.hours", { n: minutes / MINUTE_S });
}
