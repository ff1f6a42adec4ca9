// What the list of channels shows of people in voice: who is silent or deaf, who shows a camera or a screen.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../store/shapes.js").Payload} Payload */
/** @typedef {"screen" | "camera" | "deaf" | "muted"} Sign */
/** @typedef {Sign[]} Part What a person does in voice. */

/** @type {Readonly<Record<Sign, {sign: string, words: () => string}>>} */
const SIGNS = {
  screen: { sign: "screen", words: () => t("voice.shares_screen") },
  camera: { sign: "camera", words: () => t("voice.shows_camera") },
  deaf: { sign: "headphones-off", words: () => t("voice.is_deaf") },
  muted: { sign: "microphone-off", words: () => t("voice.is_muted") },
};

/**
 * Of somebody who is there several times: silent where all are, seen where one is.
 * @param {Payload[]} states Of a channel.
 * @param {string} userId
 * @returns {Part}
 */
export function partOf(states, userId) {
  const its = states.filter((one) => one["user_id"] === userId);
  const isDeaf = its.every((one) => one["self_deaf"] || one["deaf"]);
  const isMuted = its.every((one) => one["self_mute"] || one["mute"] || one["suppress"]);
  /** @type {(Sign | false)[]} */
  const part = [
    its.some((one) => one["self_stream"]) && "screen",
    its.some((one) => one["self_video"]) && "camera",
    isDeaf && "deaf",
    !isDeaf && isMuted && "muted",
  ];
  return part.filter((one) => one !== false);
}

/** @param {Part} part */
export function voiceSigns(part) {
  return part.map((one) => {
    const { sign, words } = SIGNS[one];
    return h("span", { class: "voice-sign-of", title: words() }, icon(sign), h("span", { class: "unseen" }, words()));
  });
}
