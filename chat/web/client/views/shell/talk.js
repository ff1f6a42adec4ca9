// A channel that is open: its head, its messages, who writes, and the field.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { hindranceOf } from "../../store/hindrances.js";
import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { makeComposer } from "../composer/composer.js";
import { makeMessageList } from "../messages/list.js";
import { followInvite } from "../dialogs/invited.js";
import { makeReactorsHint } from "../messages/reactors_hint.js";
import { daysKept } from "../names/ages.js";
import { enterCall } from "../names/calls.js";
import { nameOf } from "../names/people.js";
import { nameOfChannel, signOf } from "../names/channels.js";
import { makeHead } from "../names/head.js";
import { makeCallHead } from "./call_head.js";
import { makeMessageMenu } from "./message_menu.js";
import { makeTyping } from "./typing.js";
import { makeUses } from "./uses.js";
import { makeVoiceHead } from "./voice_head.js";
import { makeVotes, POLL_ACTS } from "./votes.js";

/** @typedef {import("./app.js").App} App */

const VOICE = 2;
const CONVERSATIONS = new Set([1, 3, 999]);

/**
 * @typedef {object} Talk
 * @property {HTMLElement} element
 * @property {string} channelId
 * @property {(messageId: string | null) => void} open
 * @property {() => void} focus
 * @property {() => ((userId: string) => void) | null} [mention] Writes a mention; null where nobody may write.
 * @property {() => void} leaveUnread
 * @property {() => void} stop
 */

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.channelId
 * @param {string | null} parts.guildId
 * @param {() => void} parts.back To the list of channels, where one pane is shown.
 * @param {() => void} parts.toggleMembers
 * @param {boolean} [parts.isBeside] A thread beside its channel: `back` closes it.
 * @returns {Talk}
 */
export function makeTalk({ app, channelId, guildId, back, toggleMembers, isBeside = false }) {
  const { store, acts } = app;
  const element = isBeside
    ? h("aside", { class: "talk beside", tabindex: "-1", "data-region": "", "aria-label": t("talk.thread") })
    : h("main", { id: "talk", class: "talk", tabindex: "-1", "data-region": "" });
  const head = makeHead({ app, channelId, guildId, back, toggleMembers, isBeside });
  const list = makeMessageList({
    store,
    acts,
    channelId,
    guildId,
    on,
    announce: app.announce,
    report: app.report,
    beginning,
    isWatched: () => !document.hidden && document.hasFocus(),
  });
  if (isBeside) list.element.setAttribute("aria-label", t("talk.thread_messages"));
  const hint = makeReactorsHint({ element: list.element, place: { store, guildId }, acts, channelId });
  const typing = makeTyping(app, channelId, guildId);
  const foot = h("div", { class: "talk-foot" });
  const menu = makeMessageMenu({ app, channelId, guildId, reply, edit, markUnread: list.markUnread });
  const uses = makeUses({ app, channelId, guildId });
  const votes = makeVotes({ app, guildId });
  /** @type {ReturnType<typeof makeComposer> | null} */
  let composer = null;
  let rights = "";
  let mayWrite = false;
  let isOpen = false;

  /** @param {bigint} bit */
  const allowed = (bit) => {
    const channel = store.read.channels.get(channelId);
    return channel !== undefined && (CONVERSATIONS.has(channel.type) || may(store.read, channel, bit));
  };

  /** Above the first message. */
  function beginning() {
    const channel = store.read.channels.get(channelId);
    const name = channel ? nameOfChannel(store.read, channel) : "";
    const isPrivate = guildId === null;
    const words = isPrivate ? t("talk.beginning_private", { name }) : t("talk.beginning_words", { name });
    const sign = channel && !isPrivate ? [h("span", { class: "beginning-sign" }, icon(signOf(channel)))] : [];
    const days = channel ? daysKept(store.read, channel) : 0;
    const kept = days === 0 ? [] : [h("p", { class: "muted" }, t("talk.kept", { n: days }))];
    const lines = [h("h2", {}, h("bdi", {}, name)), h("p", { class: "muted" }, words), ...kept];
    return [h("div", { class: "beginning" }, ...sign, ...lines)];
  }

  /** The field anew, if what the person may do here has changed; what was written is a draft meanwhile. */
  function settle() {
    const channel = store.read.channels.get(channelId);
    if (channel === undefined) return;
    const hindrance = hindranceOf(store.read, channel, app.now());
    mayWrite = hindrance === null;
    const isArchived = channel["thread_metadata"]?.archived === true;
    const canAttach = hindrance === null && allowed(BITS.ATTACH_FILES);
    const name = nameOfChannel(store.read, channel);
    const next = JSON.stringify([hindrance, isArchived, canAttach, name]);
    if (next === rights) return;
    rights = next;
    composer?.stop();
    composer = makeComposer({
      store,
      acts,
      channelId,
      guildId,
      name,
      ground: element,
      hindrance,
      isArchived,
      settle,
      canAttach,
      now: app.now,
      pickEmoji(anchor, insert, send) {
        const onPick = (/** @type {{text: string}} */ one) => insert(one.text);
        app.open("emoji", { anchor, guildId, onPick, gifs: allowed(BITS.EMBED_LINKS) ? { canAttach, send } : null });
      },
      pickSticker: (anchor, onPick) => app.open("stickers", { anchor, channelId, onPick }),
      invoke: uses.invoke,
      ask: () => app.open("ask", { channelId }),
      later: (anchor, hand) => app.open("later", { anchor, channelId, hand }),
      announce: app.announce,
      intoRows: () => list.focus(),
      sent: list.sent,
      report: app.report,
    });
    if (isBeside) composer.element.setAttribute("aria-label", t("talk.thread_composer"));
    fill(foot, composer.element, typing.element);
  }

  /** @param {import("wire").Message} message */
  function reply(message) {
    composer?.reply(message, nameOf({ store, guildId }, message.author));
  }

  /** @param {import("wire").Message} message */
  function edit(message) {
    composer?.edit(message);
  }

  /**
   * @param {string} act
   * @param {import("wire").Message} message
   * @param {HTMLElement} source
   */
  function on(act, message, source) {
    if (act === "reply") reply(message);
    else if (act === "edit") edit(message);
    else if (act === "delete") menu.remove(message);
    else if (act === "menu") menu.open(message, source);
    else if (act === "pick") menu.pick(message, source);
    else if (POLL_ACTS.has(act)) votes(act, message, source);
    else if (act === "use" || act === "choose") uses.run(message, source);
    else if (act === "profile") {
      app.open("profile", { userId: source.dataset["user"] ?? message.author.id, guildId, anchor: source });
    } else if (act === "view") app.open("viewer", { message, source });
    else if (act === "invite") void followInvite(app, source.dataset["code"] ?? "", true).catch(app.report);
    else if (act === "call") enterCall(app, channelId);
    else if (act === "link") menu.follow(source);
    else if (act === "thread" || act === "channel") visit(source.dataset["channel"] ?? "");
  }

  /** @param {string} id */
  function visit(id) {
    const channel = store.read.channels.get(id);
    if (channel) app.go(`/channels/${channel.guild_id ?? "@me"}/${id}`);
    else app.layers.toast(t("talk.unknown_channel"));
  }

  const type = store.read.channels.get(channelId)?.type ?? -1;
  const voice =
    type === VOICE
      ? makeVoiceHead(app, channelId, guildId)
      : CONVERSATIONS.has(type)
        ? makeCallHead(app, channelId)
        : null;
  fill(element, head.element, voice?.element, list.element, foot);
  settle();
  const partners = (store.read.channels.get(channelId)?.recipients ?? []).map(({ id }) => `user:${id}`);
  const places = [channelId, store.read.channels.get(channelId)?.parent_id].filter(Boolean);
  const around = guildId === null ? [] : [`guild:${guildId}`];
  const topics = [...places.map((id) => `channel:${id}`), "me", ...partners, ...around];
  const unwatch = store.watch(topics, () => (settle(), head.draw()));

  return {
    element,
    channelId,
    open(messageId) {
      if (isOpen && messageId !== null) void list.jump(messageId);
      else if (!isOpen) void list.open(messageId);
      isOpen = true;
    },
    focus: () => composer?.focus(),
    mention: () => (mayWrite ? (userId) => composer?.insert(`<@${userId}> `) : null),
    leaveUnread: () => void list.leaveUnread(),
    stop() {
      unwatch();
      voice?.stop();
      list.stop();
      hint.stop();
      typing.stop();
      composer?.stop();
    },
  };
}
