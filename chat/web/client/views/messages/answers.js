// What is told of an application's answer: who used which command, that it is still at work, and that nobody else sees
// it.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t, tn } from "../../words/catalogue.js";
import { nameOf, plainName } from "../names/people.js";

/** @typedef {import("wire").Message} Message */
/** @typedef {import("../names/people.js").Place} Place */

const LOADING = 1 << 7;
/** How long an application may complete its answer. */
const TOKEN_MS = 15 * 60 * 1000;
/** Commands of people and messages may have capitals and gaps; these stand behind a slash. */
const BEHIND_SLASH = /^[^\s\p{Lu}]+$/u;

/**
 * The name of the command that it answers.
 * @param {Message["interaction_metadata"]} answered
 */
function commandOf(answered) {
  const name = answered?.name ?? answered?.triggering_interaction_metadata?.name;
  if (!name) return null;
  return BEHIND_SLASH.test(name) ? `/${plainName(name)}` : plainName(name);
}

/**
 * @param {Message} message
 * @param {Place} place
 */
export function usedCommand({ interaction_metadata: answered }, place) {
  const command = commandOf(answered);
  if (!answered || command === null) return null;
  const name = h(
    "button",
    { type: "button", class: "reply-name", "data-act": "profile", "data-user": answered.user.id },
    nameOf(place, answered.user),
  );
  const words = h("span", { class: "clip" }, ...tn("message.used", { name, command }));
  return h("p", { class: "reply used" }, icon("code"), words);
}

/** Whether the application has said that its answer comes later. @param {Message} message */
export function isThinking({ flags }) {
  return (flags & LOADING) !== 0;
}

/**
 * @param {Message} message
 * @param {Place} place
 */
export function thinkingWords({ author, timestamp }, place) {
  const isOver = Date.now() - Date.parse(timestamp) > TOKEN_MS;
  return isOver ? t("components.silent") : t("message.thinking", { name: nameOf(place, author) });
}

/** Below a message that nobody else sees. */
export function onlyYou() {
  return h(
    "p",
    { class: "only-you meta" },
    icon("eye"),
    h("span", {}, t("message.only_you")),
    h("button", { type: "button", class: "button plain", "data-act": "dismiss" }, t("message.dismiss")),
  );
}
