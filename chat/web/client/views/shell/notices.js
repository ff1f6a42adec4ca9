// Tells of messages while a tab is open. Of several tabs one speaks, and none of what is being read in any.

import { keptNotices, play } from "../../base/notices.js";
import { serviceWorker } from "../../base/trusted.js";
import { isNotified, isQuiet } from "../../store/notices.js";
import { compareIds } from "../../store/shapes.js";
import { t } from "../../words/catalogue.js";
import { quoted } from "../names/quoted.js";
import { nameOfChannel } from "../names/channels.js";
import { avatarAddress, nameOf, plainName } from "../names/people.js";
import { pathOf } from "./router.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("../../store/shapes.js").Message} Message */

/** A tab that is looked at takes the message first. */
const OTHERS_FIRST_MS = 200;
/** How long a message is taken: longer than any tab hears of it later. */
const TAKEN_MS = 10_000;
/** What was said before that was said while nobody was connected. */
const LATE_MS = 120_000;
const EPOCH_MS = 1_420_070_400_000;
const CALL = 3;
const BODY_CHARACTERS = 300;
const TOAST_CHARACTERS = 80;

/** @param {App} app */
export function makeNotices(app) {
  const { store, connection } = app;
  /** @type {string[]} */
  let words = [];

  const unhear = connection.hear((name, data) => {
    if (name === "MESSAGE_CREATE") void heard(data).catch(() => {});
    else if (name === "MESSAGE_ACK") void takeAway(data.channel_id).catch(() => {});
    else if (name === "REMINDER_UPDATE") void reminded(data).catch(() => {});
    else if (name === "READY" || name === "USER_SETTINGS_UPDATE") void learn();
  });

  async function learn() {
    void learnReminders().catch(() => {});
    words = await app.acts.accountSettings.words().catch(() => words);
  }

  /** Those that fell due while nobody was connected. */
  async function learnReminders() {
    const due = (await app.acts.reminders.all()).filter((one) => one.told_at !== null);
    store.put((state, touch) => {
      state.reminded = new Set(due.map((one) => one.message_id));
      touch("channels:@me");
    });
  }

  /**
   * The moment was chosen: nothing that is muted holds it back; in quiet hours it does without a sound.
   * @param {{message_id: string, told_at: string | null}} due
   */
  async function reminded({ message_id: id, told_at: toldAt }) {
    if (toldAt === null || app.now() - Date.parse(toldAt) > LATE_MS) return;
    const isLookedAt = document.hasFocus();
    if (!isLookedAt) await new Promise((resolve) => setTimeout(resolve, OTHERS_FIRST_MS));
    if (!(await take(`${id}:${toldAt}`))) return;
    const { status, message } = await app.acts.reminders.one(id);
    const gone = status === "deleted" ? t("reminders.deleted") : t("reminders.unseen");
    const guildId = store.read.channels.get(message?.channel_id ?? "")?.guild_id ?? null;
    const author = message && nameOf({ store, guildId }, message.author);
    const title = author && titled({ ...message, ...(guildId && { guild_id: guildId }) }, author);
    const words = message ? quoted(message.content, { store, guildId }) || t("notices.no_text") : gone;
    const about = { title: title ? t("reminders.of", { title }) : t("remind.title"), words, id };
    const path = message ? pathOf({ guildId, channelId: message.channel_id, messageId: id }) : "/channels/@me";
    const show = () => (message ? app.go(path) : app.open("reminders"));
    const action = { label: t("later.show"), run: show };
    app.layers.toast(`${about.title}. ${words.slice(0, TOAST_CHARACTERS)}`, { action });
    const notices = keptNotices();
    if (notices.shows && !isLookedAt) await showReminder(about, path);
    if (!isQuiet(store.read.settings?.["quiet_hours"], app.now())) await play(notices.sound);
  }

  void learn();

  /** @param {Message} message */
  async function heard(message) {
    if (message["type"] === CALL) return; // a call rings by itself, where it is to ring
    const saidAt = Number(BigInt(message["id"]) >> 22n) + EPOCH_MS;
    if (app.now() - saidAt > LATE_MS || store.read.settings?.["status"] === "dnd") return;
    if (!isNotified(store.read, message, app.now(), words)) return;
    const isLookedAt = document.hasFocus();
    const isRead = isLookedAt && app.place().channelId === message["channel_id"];
    if (!isLookedAt) await new Promise((resolve) => setTimeout(resolve, OTHERS_FIRST_MS));
    if (!(await take(message["id"])) || isRead) return;
    const notices = keptNotices();
    if (isQuiet(store.read.settings?.["quiet_hours"], app.now())) return;
    if (notices.shows && !isLookedAt) await show(message);
    await play(notices.sound);
  }

  /** @param {Message} message */
  async function show(message) {
    if (!("Notification" in globalThis) || Notification.permission !== "granted") return;
    const guildId = message["guild_id"] ?? null;
    const author = nameOf({ store, guildId }, message["author"]);
    const path = pathOf({ guildId, channelId: message["channel_id"], messageId: message["id"] });
    const body = quoted(message["content"], { store, guildId }).slice(0, BODY_CHARACTERS);
    const registration = await serviceWorker();
    await registration.showNotification(titled(message, author), {
      body: body || t("notices.no_text"),
      tag: message["channel_id"],
      icon: avatarAddress(message["author"], 80),
      silent: true,
      data: { channel_id: message["channel_id"], url: new URL(path, location.href).href },
      .../** @type {object} */ ({ renotify: true }),
    });
    // Another tab may have read it before this one had shown it.
    const last = store.read.reads.get(message["channel_id"])?.last ?? "0";
    if (compareIds(last, message["id"]) >= 0) await takeAway(message["channel_id"]);
  }

  /** @param {{title: string, words: string, id: string}} about @param {string} path */
  async function showReminder({ title, words, id }, path) {
    if (!("Notification" in globalThis) || Notification.permission !== "granted") return;
    const registration = await serviceWorker();
    await registration.showNotification(title, {
      body: words.slice(0, BODY_CHARACTERS),
      tag: `reminder ${id}`,
      silent: true,
      data: { url: new URL(path, location.href).href },
      .../** @type {object} */ ({ renotify: true }),
    });
  }

  /** @param {Message} message @param {string} author */
  function titled(message, author) {
    const channel = store.read.channels.get(message["channel_id"]);
    if (!channel) return author;
    const guild = store.read.guilds.get(message["guild_id"] ?? "");
    if (guild) {
      const community = plainName(guild.properties["name"] ?? "");
      return t("notices.in_guild", { author, channel: nameOfChannel(store.read, channel), guild: community });
    }
    const isOfTwo = channel.type === 1 || !channel.name;
    return isOfTwo ? author : t("notices.in_group", { author, group: nameOfChannel(store.read, channel) });
  }

  return { stop: unhear };
}

/**
 * Whether this tab is the one that tells of the message.
 * @param {string} id
 * @returns {Promise<boolean>}
 */
function take(id) {
  return new Promise((resolve) => {
    const held = () => new Promise((over) => setTimeout(over, TAKEN_MS));
    const locks = /** @type {LockManager | undefined} */ (navigator.locks);
    if (!locks) return resolve(true);
    return void locks.request(`notice:${id}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock === null ? undefined : held();
    });
  });
}

/** What was read elsewhere needs no notification any more. @param {string} channelId */
async function takeAway(channelId) {
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const shown of (await registration?.getNotifications({ tag: channelId })) ?? []) shown.close();
}
