// What tells the account of itself: this browser, each community, each channel.

import { fill, h } from "../../base/dom.js";
import { orderedChannels } from "../../store/channels.js";
import { card, toggle } from "../../views/settings/fields.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { plainName } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";
import { makeNoticesCard, makeWordsCard } from "./notices.js";
import { makePush } from "./push.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Guild} Guild */
/** @typedef {import("../../store/shapes.js").Channel} Channel */

const INHERIT = 3;
/** Kinds of channels that bring messages. */
const HEARD = new Set([0, 2, 5, 15, 16]);

/** @param {App} app */
export function makeNotifications(app) {
  const guilds = [...app.store.read.guilds.values()].filter((guild) => !guild.unavailable);
  guilds.sort((one, other) => nameOf(one).localeCompare(nameOf(other)));
  const rows = guilds.map((guild) => guildPart(app, guild));
  if (rows.length === 1 && rows[0]) rows[0].open = true;
  const none = h("p", { class: "small muted" }, t("notifications.no_guild"));
  const element = h(
    "div",
    { class: "settings-cards" },
    makeNoticesCard(app),
    makePush(app),
    makeWordsCard(app),
    card(t("notifications.guilds"), t("notifications.guilds_words"), ...(rows.length > 0 ? rows : [none])),
  );
  return { element };
}

/** @param {Guild} guild */
function nameOf(guild) {
  return plainName(guild.properties["name"] ?? "");
}

/** @param {App} app @param {Guild} guild */
function guildPart(app, guild) {
  const { acts, report } = app;
  /** @typedef {import("wire").UserGuildSettings} Settings */
  const kept = () => app.store.read.guildSettings.get(guild.id) ?? /** @type {Partial<Settings>} */ ({});
  const content = h("div", { class: "settings-fold-content" });
  const name = h("bdi", {}, nameOf(guild));
  const element = h("details", { class: "settings-fold" }, h("summary", {}, name), content);
  const unwatch = app.store.watch([`guild:${guild.id}`], () => {
    const now = app.store.read.guilds.get(guild.id);
    if (!now || !name.isConnected) return unwatch();
    return (name.textContent = nameOf(now));
  });

  /** @param {import("wire").ChangeGuildSettingsBody} change */
  const set = (change) => acts.guilds.settings(guild.id, change);

  /** @param {string} name @param {string} label @param {boolean} isOn */
  function flag(name, label, isOn) {
    const change = (/** @type {boolean} */ checked) => set({ [name]: checked });
    return toggle({ label, checked: isOn, change, report });
  }

  function draw() {
    const now = kept();
    const usual = Number(now["message_notifications"] ?? INHERIT);
    const fallback = Number(guild.properties["default_message_notifications"] ?? 0);
    const heard = level(
      t("notifications.level"),
      usual === INHERIT ? fallback : usual,
      null,
      (value) => set({ message_notifications: value }),
      report,
    );
    const channels = orderedChannels(app.store.read, guild.id).filter(({ type }) => HEARD.has(type));
    fill(
      content,
      h("div", { class: "settings-row" }, h("span", {}, t("notifications.level")), heard),
      flag("muted", t("notifications.mute"), now["muted"] === true),
      flag("suppress_everyone", t("notifications.no_everyone"), now["suppress_everyone"] === true),
      flag("suppress_roles", t("notifications.no_roles"), now["suppress_roles"] === true),
      h("h3", {}, t("notifications.channels")),
      h("ul", { class: "settings-rows" }, ...channels.map(channelRow)),
    );
  }

  /** @param {Channel} channel */
  function channelRow(channel) {
    const value = Number(kept()["channel_overrides"]?.[channel.id]?.message_notifications ?? INHERIT);
    const name = nameOfChannel(app.store.read, channel);
    const choose = level(
      t("notifications.level_of", { name }),
      value,
      t("notifications.as_guild"),
      (chosen) => acts.guilds.channelNotifications(guild.id, channel.id, chosen),
      report,
    );
    return h("li", { class: "settings-row" }, h("bdi", { class: "clip" }, name), choose);
  }

  // What is folded is not made: a hundred communities have thousands of channels.
  element.addEventListener("toggle", () => (element.open ? draw() : fill(content)));
  return element;
}

/**
 * @param {string} label
 * @param {number} value
 * @param {string | null} inherit What it is called to be as the community; null where that cannot be.
 * @param {(value: number) => Promise<unknown>} change
 * @param {(error: unknown) => void} report
 */
function level(label, value, inherit, change, report) {
  const select = h("select", { class: "select", "aria-label": label });
  const words = [t("notifications.all"), t("notifications.mentions"), t("notifications.nothing")];
  if (inherit !== null) select.append(h("option", { value: String(INHERIT) }, inherit));
  select.append(...words.map((one, at) => h("option", { value: String(at) }, one)));
  select.value = String(value);
  let kept = select.value;
  select.addEventListener("change", async () => {
    try {
      await change(Number(select.value));
      kept = select.value;
    } catch (error) {
      select.value = kept;
      report(error);
    }
  });
  return select;
}
