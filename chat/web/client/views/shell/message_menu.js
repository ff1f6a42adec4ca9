// What can be done with a message beyond its row: the menu, the question before it goes, reactions, links elsewhere.

import { h } from "../../base/dom.js";
import { mayAskApps } from "../../store/interactions.js";
import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { nameOf } from "../names/people.js";
import { quoted } from "../names/quoted.js";

/** @typedef {import("./app.js").App} App */

const OWN_TYPES = new Set([0, 19]);
/** Channels below which threads can be. */
const THREADED = new Set([0, 5]);
const ANNOUNCEMENTS = 5;
/** Flags of messages that were published, or came from another channel. */
const PUBLISHED = 1 | 2;
/** The type of such commands. */
const FOR_MESSAGES = 3;
const SHOWN_CHARACTERS = 300;

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.channelId
 * @param {string | null} parts.guildId
 * @param {(message: import("wire").Message) => void} parts.reply
 * @param {(message: import("wire").Message) => void} parts.edit
 * @param {(messageId: string) => void} parts.markUnread
 */
export function makeMessageMenu({ app, channelId, guildId, reply, edit, markUnread }) {
  const { store, acts, layers } = app;

  /** @param {bigint} bit @param {boolean} inConversation whether everybody may in a conversation */
  function allowed(bit, inConversation) {
    const channel = store.read.channels.get(channelId);
    return channel !== undefined && (channel.guild_id ? may(store.read, channel, bit) : inConversation);
  }

  /** @param {import("wire").Message} message */
  function mayStart(message) {
    const type = store.read.channels.get(channelId)?.type ?? -1;
    return THREADED.has(type) && !message.thread && allowed(BITS.CREATE_PUBLIC_THREADS, false);
  }

  /**
   * One's own, or with a permission any; forwards and what the server says stay.
   * @param {import("wire").Message} message
   */
  function mayPublish(message) {
    const isThere = store.read.channels.get(channelId)?.type === ANNOUNCEMENTS && OWN_TYPES.has(message.type);
    const isFree = !(message.flags & PUBLISHED) && message.message_reference?.type !== 1;
    const isAllowed = isMine(message) || allowed(BITS.MANAGE_MESSAGES, false);
    return isThere && isFree && isAllowed && allowed(BITS.SEND_MESSAGES, false);
  }

  /** It cannot be taken back. @param {import("wire").Message} message */
  function publish(message) {
    layers.dialog({
      title: t("menu.publish_title"),
      content: h("p", { class: "muted" }, t("menu.publish_words")),
      actions: [{ label: t("menu.publish"), run: () => acts.messages.publish(channelId, message.id) }],
    });
  }

  /** @param {import("wire").Message} message */
  function isMine(message) {
    return message.author.id === store.read.session.me;
  }

  /**
   * Ask before it goes, with the message in sight.
   * @param {import("wire").Message} message
   */
  function remove(message) {
    if (!isMine(message) && !allowed(BITS.MANAGE_MESSAGES, false)) return;
    const said = quoted(message.content, { store, guildId }).slice(0, SHOWN_CHARACTERS);
    const shown = h(
      "blockquote",
      { class: "quoted" },
      h("strong", {}, h("bdi", {}, nameOf({ store, guildId }, message.author))),
      h("p", {}, h("bdi", {}, said || t("message.without_text"))),
    );
    layers.dialog({
      title: t("menu.delete_title"),
      content: h("div", {}, h("p", {}, t("menu.delete_question")), shown),
      actions: [{ label: t("menu.delete"), kind: "danger", run: () => acts.messages.delete(channelId, message.id) }],
    });
  }

  /**
   * @param {import("wire").Message} message
   * @param {HTMLElement} anchor
   */
  function pick(message, anchor) {
    const onPick = (/** @type {{emoji: import("../../acts/messages.js").Emoji}} */ one) =>
      acts.messages.react(channelId, message.id, one.emoji).catch(app.report);
    app.open("emoji", { anchor, guildId, onPick });
  }

  /** @param {import("wire").Message} message */
  async function copyLink(message) {
    const address = `${location.origin}/channels/${guildId ?? "@me"}/${channelId}/${message.id}`;
    await navigator.clipboard.writeText(address);
    layers.toast(t("menu.link_copied"));
  }

  /** @param {import("wire").Message} message */
  async function save(message) {
    await acts.messages.save(channelId, message.id);
    const undo = () => told(acts.messages.unsave(message.id));
    layers.toast(t("menu.saved"), { action: { label: t("settings.undo"), run: undo } });
  }

  /** What applications do with a message. @param {import("wire").Message} message @param {HTMLElement} anchor */
  function askApps(message, anchor) {
    app.open("bot_menu", { type: FOR_MESSAGES, targetId: message.id, channelId, guildId, anchor });
  }

  /** @param {Promise<unknown>} done */
  const told = (done) => void done.catch(app.report);

  /**
   * @param {import("wire").Message} message
   * @param {HTMLElement} source
   */
  function open(message, source) {
    const mine = isMine(message);
    const isOwnText = mine && OWN_TYPES.has(message.type);
    const { messages } = acts;
    /** @type {(false | null | import("./menu.js").Entry)[]} */
    const entries = [
      allowed(BITS.ADD_REACTIONS, true) && entry("react", "reaction", () => pick(message, source)),
      !!message.reactions?.length &&
        entry("reactors", "member", () => app.open("reactors", { channelId, guildId, message })),
      entry("reply", "reply", () => reply(message)),
      mayStart(message) && entry("thread", "thread", () => app.open("new_thread", { guildId, channelId, message })),
      mayPublish(message) && entry("publish", "megaphone", () => publish(message)),
      isOwnText && entry("edit", "edit", () => edit(message)),
      null,
      allowed(BITS.PIN_MESSAGES, true) &&
        (message.pinned
          ? entry("unpin", "pin", () => told(messages.unpin(channelId, message.id)))
          : entry("pin", "pin", () => told(messages.pin(channelId, message.id)))),
      entry("unread", "unread", () => markUnread(message.id)),
      null,
      message.content !== "" && entry("copy", "copy", () => told(navigator.clipboard.writeText(message.content))),
      entry("copy_link", "link", () => told(copyLink(message))),
      entry("forward", "forward", () => app.open("forward", { message })),
      entry("save", "bookmark", () => told(save(message))),
      entry("remind", "clock", () => app.open("remind", { anchor: source, channelId, messageId: message.id })),
      mayAskApps(store.read, channelId) && entry("apps", "code", () => askApps(message, source)),
      null,
      !mine && entry("report", "flag", () => app.open("report", { channelId, message })),
      (mine || allowed(BITS.MANAGE_MESSAGES, false)) && {
        ...entry("delete", "delete", () => remove(message)),
        kind: /** @type {const} */ ("danger"),
      },
    ];
    layers.menu(
      source,
      entries.filter((one) => one !== false),
      t("message.actions"),
    );
  }

  /**
   * @param {string} name
   * @param {string} sign
   * @param {() => void} run
   */
  function entry(name, sign, run) {
    return { label: WORDS[name]?.() ?? name, icon: sign, run };
  }

  /**
   * A link whose words name another host than its own is asked about before it is followed.
   * @param {HTMLElement} link
   */
  function follow(link) {
    const { href: address, host } = /** @type {HTMLAnchorElement} */ (link);
    layers.dialog({
      title: t("menu.link_title"),
      content: h("div", {}, h("p", {}, t("menu.link_question", { host })), h("p", { class: "address small" }, address)),
      actions: [{ label: t("menu.link_open"), run: () => void window.open(address, "_blank", "noopener,noreferrer") }],
    });
  }

  return { open, remove, pick, follow };
}

/** @type {Readonly<Record<string, () => string>>} */
const WORDS = {
  react: () => t("message.react"),
  reactors: () => t("menu.reactors"),
  reply: () => t("message.reply"),
  edit: () => t("message.edit"),
  pin: () => t("menu.pin"),
  unpin: () => t("menu.unpin"),
  unread: () => t("menu.unread"),
  thread: () => t("threads.start"),
  copy: () => t("menu.copy"),
  copy_link: () => t("menu.copy_link"),
  forward: () => t("forward.title"),
  publish: () => t("menu.publish"),
  save: () => t("menu.save"),
  remind: () => t("remind.title"),
  apps: () => t("commands.apps"),
  report: () => t("report.title"),
  delete: () => t("menu.delete"),
};
