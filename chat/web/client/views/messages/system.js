// What the server says in a channel: messages that nobody wrote.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t, tn } from "../../words/catalogue.js";
import { isThinking, thinkingWords } from "./answers.js";
import { callSaying } from "./calls.js";
import { nameOf, plainName } from "../names/people.js";
import { quoted, saidIn } from "../names/quoted.js";

/** @typedef {import("../names/people.js").Place} Place */

/** @typedef {{sign: SVGSVGElement, words: (string | Node)[]}} Saying */

const CALL = 3;
const HEARD_CHARACTERS = 200;

/** @type {Record<number, (message: import("wire").Message, name: string, other: string) => Saying>} */
const SAYINGS = {
  1: (_, name, other) => ({ sign: icon("add"), words: tn("system.added", { name, other }) }),
  2: (_, name, other) => ({ sign: icon("leave"), words: tn("system.left", { name, other }) }),
  4: (message, name) => ({
    sign: icon("edit"),
    words: tn("system.renamed", { name, title: plainName(message.content) }),
  }),
  5: (_, name) => ({ sign: icon("picture"), words: tn("system.picture", { name }) }),
  6: (_, name) => ({ sign: icon("pin"), words: tn("system.pinned", { name }) }),
  7: (_, name) => ({ sign: icon("member"), words: tn("system.joined", { name }) }),
  12: (message, name) => ({
    sign: icon("megaphone"),
    words: tn("system.follows", { name, title: plainName(message.content) }),
  }),
  46: (message, name) => ({ sign: icon("poll"), words: pollEnd(message, name) }),
  18: (message, name) => ({
    sign: icon("thread"),
    words: tn("system.thread", { name, title: plainName(message.content) }),
  }),
};

/** @param {import("wire").Message} message @param {string} name */
function pollEnd(message, name) {
  const fields = Object.fromEntries(message.embeds[0]?.fields?.map((one) => [one.name, one.value]) ?? []);
  const title = plainName(fields["poll_question_text"] ?? "");
  const answer = fields["victor_answer_text"] ?? fields["victor_answer_emoji_name"];
  if (!answer) return tn("system.poll", { name, title });
  return tn("system.poll_won", { name, title, answer: plainName(answer) });
}

/**
 * Whether someone wrote it.
 * @param {import("wire").Message} message
 */
export function isWritten(message) {
  return message.type === 0 || message.type === 19 || message.type === 21;
}

/**
 * @param {import("wire").Message} message
 * @param {Place} place
 * @returns {HTMLElement}
 */
export function saying(message, place) {
  if (message.type === CALL) return callSaying(message, place);
  const name = nameOf(place, message.author);
  const first = message.mentions?.[0];
  const said = SAYINGS[message.type]?.(message, name, first ? nameOf(place, first) : name);
  if (said === undefined) return h("p", { class: "system" }, icon("info"), h("span", {}, t("system.unknown")));
  const element = h("p", { class: "system" }, said.sign, h("span", {}, ...said.words));
  const target = message.message_reference?.message_id;
  if ((message.type === 6 || message.type === 46) && target) element.append(pointer(target));
  return element;
}

/**
 * What a message says, in one line for those who hear it.
 * @param {import("wire").Message} message
 * @param {Place} place
 */
export function heard(message, place) {
  if (!isWritten(message)) return saying(message, place).querySelector("span")?.textContent ?? "";
  if (isThinking(message)) return thinkingWords(message, place);
  return quoted(saidIn(message), place).slice(0, HEARD_CHARACTERS) || t("message.without_text");
}

/** @param {string} id */
function pointer(id) {
  return h("button", { type: "button", class: "button plain", "data-act": "jump", "data-id": id }, t("system.show"));
}
