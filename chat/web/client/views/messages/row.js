// One row of the list. It redraws only those of its parts whose inputs changed: a film goes on while reactions come.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { isEphemeral, usedOf } from "../../store/interactions.js";
import { t } from "../../words/catalogue.js";
import { clock, dayLine, full } from "../../words/dates.js";
import { isThinking, onlyYou, thinkingWords, usedCommand } from "./answers.js";
import { body } from "./body.js";
import { componentsOf } from "./components.js";
import { embedsOf, isPictureAlone } from "./embeds.js";
import { fate } from "./fate.js";
import { standing } from "./grouping.js";
import { inviteCards } from "./invites.js";
import { media, stickers } from "./media.js";
import { avatar, colourOf, nameOf, plainName } from "../names/people.js";
import { hasResults, pollOf } from "./poll.js";
import { quoted, saidIn } from "../names/quoted.js";
import { reactions } from "./reactions.js";
import { heard, isWritten, saying } from "./system.js";

/** @typedef {import("../names/people.js").Place} Place */
/** @typedef {import("../../store/shapes.js").Message} Message */

/** @typedef {"queued" | "sending" | "sent" | "unsure" | "failed" | null} Sending */

/**
 * @typedef {{key: string, message: Message, before: Message | undefined, isUnread: boolean, sending: Sending,
 *   fault?: string | null, isAlone?: boolean}} Item
 * `before` is the message above it, `isUnread` puts the line of what is new above it, `isAlone` is one without a list.
 */

/** The type of the first message of a thread that was made from a message. */
const STARTER = 21;
const SUPPRESS_EMBEDS = 4;
const PUBLISHED = 1;
/** Its components stand in place of text, files and embeds. */
const BY_COMPONENTS = 1 << 15;
const COPY = { messageId: "", used: null, isCopy: true };

/** @param {number} milliseconds */
function dayOf(milliseconds) {
  return new Date(milliseconds).toDateString();
}

/** @param {Place} place */
export function makeRow(place) {
  const article = h("article", { class: "row", tabindex: "-1" });
  const element = h("li", { class: "slot" }, article);
  /** @type {Map<string, {inputs: unknown[], node: ChildNode}>} */
  const parts = new Map();
  let words = "";

  /**
   * A part stands in its place from the first drawing on; without content it is an empty text.
   * @param {Element} parent
   * @param {string} name
   * @param {unknown[]} inputs
   * @param {() => HTMLElement | null} draw
   */
  function part(parent, name, inputs, draw) {
    const old = parts.get(name);
    if (old?.inputs.every((input, index) => input === inputs[index])) return;
    const node = draw() ?? document.createTextNode("");
    if (old) old.node.replaceWith(node);
    else if (parent === element) element.insertBefore(node, article);
    else parent.append(node);
    parts.set(name, { inputs, node });
  }

  /** @param {Item} item */
  function show(item) {
    const { sending, fault } = item;
    const message = opening(item.message);
    const time = Date.parse(message.timestamp);
    const isNextDay = !!item.before && dayOf(time) !== dayOf(Date.parse(item.before.timestamp));
    const { isDay: isNew, isFirst } = standing(message, item.before ?? null, isNextDay);
    const isDay = isNew && !item.isAlone;
    const name = nameOf(place, message.author);
    const colour = colourOf(place, message.author.id);
    const written = isWritten(message);
    const isOut = (message.flags & PUBLISHED) !== 0;
    const isMine = isEphemeral(message);
    const isByComponents = (message.flags & BY_COMPONENTS) !== 0;
    const said = isByComponents ? message.components : message.content;
    const isAlone = written && !(message.flags & SUPPRESS_EMBEDS) && isPictureAlone(message);
    const author = !written || isThinking(message) ? name : "";
    element.dataset["key"] = item.key;
    article.dataset["id"] = message.id;
    article.classList.toggle("first", isFirst || !written);
    article.classList.toggle("mentions-me", isForMe(message));
    article.classList.toggle("sending", sending === "queued" || sending === "sending");
    article.classList.toggle("failed", sending === "failed" || sending === "unsure");
    part(element, "day", [isDay && dayOf(time)], () => (isDay ? separator("day", dayLine(time)) : null));
    part(element, "unread", [item.isUnread], () => (item.isUnread ? separator("unread", t("message.new_line")) : null));
    part(article, "reply", [message.referenced_message, message.type, ...answeredNames(message)], () => reply(message));
    const user = message.interaction_metadata?.user;
    part(article, "used", [user && nameOf(place, user)], () => usedCommand(message, place));
    part(article, "gutter", [isFirst && written, message.author, time], () =>
      gutter(message, isFirst && written, time),
    );
    part(article, "head", [isFirst && written, name, colour, time], () =>
      isFirst && written ? head(message, name, colour, time) : null,
    );
    part(
      article,
      "text",
      [said, message.type, message.edited_timestamp, isOut, author, mentionedNames(message), message.call, isAlone],
      () => ((words = heard(message, place)), isAlone ? null : text(message, written)),
    );
    const told = isMine ? `${words} ${t("message.only_you")}` : words;
    article.setAttribute("aria-label", t("message.row", { name, time: clock(time), text: told }));
    part(article, "copies", [message.message_snapshots], () => copies(message.message_snapshots));
    part(article, "media", [message.attachments, isByComponents], () =>
      message.attachments?.length && !isByComponents ? media(message.attachments) : null,
    );
    part(article, "stickers", [message.stickers], () => stickers(message.stickers));
    part(article, "embeds", [message.embeds, message.flags & SUPPRESS_EMBEDS], () =>
      message.embeds?.length && written && !(message.flags & SUPPRESS_EMBEDS) ? embedsOf(message.embeds, place) : null,
    );
    const { poll } = message;
    part(article, "poll", poll && hasResults(poll) ? [poll] : [poll?.question.text], () =>
      poll ? pollOf(poll, message.id, message.author.id === place.store.read.session.me) : null,
    );
    const used = usedOf(place.store.read, message.id);
    part(article, "components", [message.components, message.attachments, used], () =>
      message.components?.length
        ? componentsOf(message.components, {
            place,
            messageId: message.id,
            files: message.attachments ?? [],
            used,
            isCopy: false,
          })
        : null,
    );
    part(article, "invites", [message.content, message.type], () => inviteCards(parts.get("text")?.node, place));
    part(article, "reactions", [message.reactions], () =>
      message.reactions?.length ? reactions(message.reactions) : null,
    );
    const about = place.store.read.channels.get(message.thread?.id ?? "") ?? message.thread;
    part(article, "thread", [about?.name, about?.message_count], () => (about ? thread(about) : null));
    part(article, "sending", [sending, fault], () => fate(sending, fault ?? null));
    part(article, "only-you", [isMine], () => (isMine ? onlyYou() : null));
  }

  /** Those who are named in it, as they are called here now. @param {Message} message */
  function mentionedNames(message) {
    const { users } = place.store.read;
    const named = (/** @type {Message["author"]} */ one) =>
      `${nameOf(place, one)}${users.has(one.id) ? "" : " ?"}`;
    return (message.mentions ?? []).map(named).join("\n");
  }

  /** The same for what it answers. @param {Message} message */
  function answeredNames({ referenced_message: answered }) {
    return answered ? [nameOf(place, answered.author), mentionedNames(answered)] : [];
  }

  /** @param {Message} message */
  function isForMe(message) {
    const me = place.store.read.session.me;
    return message.mention_everyone === true || !!message.mentions?.some((one) => one.id === me);
  }

  /** @param {Message} message */
  function reply(message) {
    if (message.type !== 19) return null;
    const answered = message.referenced_message;
    if (!answered) return h("p", { class: "reply" }, icon("reply"), t("message.answered_gone"));
    const said = saidIn(answered);
    const shown = said ? plainName(quoted(said, place).slice(0, 160)) : t("message.answered_file");
    const name = nameOf(place, answered.author);
    const label = t("message.answers", { name, words: shown });
    return h(
      "button",
      { type: "button", class: "reply", "aria-label": label, "data-act": "jump", "data-id": answered.id },
      icon("reply"),
      h("bdi", { class: "reply-name" }, name),
      h("span", { class: "clip" }, shown),
    );
  }

  /**
   * @param {Message} message
   * @param {boolean} isHead
   * @param {number} time
   */
  function gutter(message, isHead, time) {
    if (!isHead) return h("span", { class: "gutter meta", "aria-hidden": "true" }, clock(time));
    const open = h(
      "button",
      { type: "button", class: "gutter", tabindex: "-1", "aria-hidden": "true", "data-act": "profile" },
      avatar(place, message.author),
    );
    open.dataset["user"] = message.author.id;
    return open;
  }

  /**
   * @param {Message} message
   * @param {string} name
   * @param {string | null} colour
   * @param {number} time
   */
  function head(message, name, colour, time) {
    const author = h(
      "button",
      { type: "button", class: "author clip", "data-act": "profile", "data-user": message.author.id },
      h("bdi", {}, name),
    );
    if (colour !== null) {
      author.dataset["role"] = "";
      author.style.setProperty("--role", colour);
    }
    const tag = message.webhook_id || message.author.bot ? [h("span", { class: "tag" }, t("message.program"))] : [];
    const at = h("time", { class: "meta", datetime: message.timestamp, title: full(time) }, clock(time));
    return h("header", { class: "head" }, author, ...tag, at);
  }

  /**
   * @param {Message} message
   * @param {boolean} written
   */
  function text(message, written) {
    if (!written) return saying(message, place);
    if (isThinking(message)) return h("p", { class: "system" }, thinkingWords(message, place));
    if (message.type === STARTER && !message.referenced_message) {
      return h("p", { class: "system" }, icon("info"), h("span", {}, t("message.starter_gone")));
    }
    if (!message.content) return null;
    const element = body(message.content, place);
    const last = element.lastElementChild;
    const end = last?.tagName === "P" ? last : element;
    if (message.edited_timestamp) {
      const title = full(Date.parse(message.edited_timestamp));
      end.append(h("span", { class: "edited meta", title }, ` ${t("message.edited")}`));
    }
    if (message.flags & PUBLISHED) end.append(h("span", { class: "edited meta" }, ` ${t("message.published")}`));
    return element;
  }

  /** @param {Message["message_snapshots"]} snapshots */
  function copies(snapshots) {
    if (!snapshots?.length) return null;
    const drawnOnes = snapshots.flatMap((one) => [
      ...(one.content ? [body(one.content, place)] : []),
      ...(one.attachments?.length ? [media(one.attachments)] : []),
      ...(one.embeds?.length ? [embedsOf(one.embeds, place)] : []),
      ...(one.components?.length
        ? [componentsOf(one.components, { ...COPY, place, files: one.attachments ?? [] })]
        : []),
    ]);
    return h(
      "blockquote",
      { class: "forwarded" },
      h("p", { class: "meta" }, icon("forward"), t("message.forwarded")),
      ...drawnOnes,
    );
  }

  return { element, article, show };
}

/**
 * A message as it is shown: the first one of a thread has nothing of its own and shows what the thread was made from.
 * @param {Message} message
 */
function opening(message) {
  const from = message.type === STARTER ? message.referenced_message : null;
  if (!from) return message;
  const { id, type, timestamp, reactions, thread } = message;
  return { ...from, id, type, timestamp, reactions, thread, referenced_message: from };
}

/**
 * A line across the list. What it says is its name: a separator's children are not read.
 * @param {string} kind
 * @param {string} words
 */
function separator(kind, words) {
  return h("div", { class: `divider ${kind}`, role: "separator", "aria-label": words }, h("span", {}, words));
}

/** @param {Pick<import("wire").Thread, "id"> & {name?: string, message_count?: number}} thread */
function thread(thread) {
  if (!thread) return null;
  const count = t("message.thread_count", { n: thread.message_count ?? 0 });
  return h(
    "button",
    { type: "button", class: "thread-link", "data-act": "thread", "data-channel": thread.id },
    icon("thread"),
    h("bdi", { class: "clip" }, plainName(thread.name ?? "")),
    h("span", { class: "meta" }, count),
  );
}
