// What the views know of this tab's place in voice. The area that speaks with the media server (areas/voice/) keeps it
// up to date; it is loaded when somebody joins for the first time.

import { h } from "../../base/dom.js";

/** @typedef {"away" | "joining" | "live" | "again" | "failed"} Phase `again`: what broke is being mended. */
/** @typedef {"good" | "fair" | "poor"} Quality */
/**
 * @typedef {object} Now
 * @property {Phase} phase
 * @property {string | null} guildId
 * @property {string | null} channelId
 * @property {string | null} connectionId
 * @property {boolean} isMuted By the person's own hand, as all that follows.
 * @property {boolean} isDeaf
 * @property {boolean} hasCamera
 * @property {boolean} hasScreen
 * @property {ReadonlySet<string>} speaking Accounts.
 * @property {Quality | null} quality
 * @property {number | null} roundTrip Milliseconds to the media server and back.
 * @property {string | null} waiting What somebody who is alone in a call should know, in words.
 * @property {string | null} problem What the person should know and do, in words.
 */
/** @typedef {ReturnType<typeof makeVoice>} Voice */

/** @type {Readonly<Now>} */
export const AWAY = Object.freeze({
  phase: "away",
  guildId: null,
  channelId: null,
  connectionId: null,
  isMuted: false,
  isDeaf: false,
  hasCamera: false,
  hasScreen: false,
  speaking: new Set(),
  quality: null,
  roundTrip: null,
  waiting: null,
  problem: null,
});

export function makeVoice() {
  /** @type {Set<(changed: Set<keyof Now>) => void>} */
  const watchers = new Set();
  /** @type {Readonly<Now>} */
  let now = AWAY;

  return {
    /** Whether this instance carries sound. */
    isThere: document.body.dataset["hasVoice"] === "yes",
    get now() {
      return now;
    },
    /** Where the bar stands, at the foot of the list of channels. */
    bar: h("div", { class: "voice-slot" }),
    /** Where cameras and screens stand, in the talk of the channel. */
    stage: h("div", { class: "voice-stage-slot" }),
    /** The stage stands in the page again. */
    wake() {},
    /** What keys do while somebody is in voice. @type {{mute: () => void, deafen: () => void} | null} */
    keys: null,
    /** @param {Partial<Now>} changes */
    put(changes) {
      const changed = /** @type {(keyof Now)[]} */ (Object.keys(changes)).filter((key) => now[key] !== changes[key]);
      if (changed.length === 0) return;
      now = { ...now, ...changes };
      for (const run of [...watchers]) run(new Set(changed));
    },
    /** @param {(changed: Set<keyof Now>) => void} run @returns {() => void} */
    watch: (run) => (watchers.add(run), () => void watchers.delete(run)),
  };
}

/** What the keys do that are named for voice; where nobody is in voice they go on. @param {Voice} voice */
export function voiceKeys(voice) {
  const isIn = () => voice.keys !== null && voice.now.phase !== "away";
  return {
    voice_mute: () => isIn() && void voice.keys?.mute(),
    voice_deafen: () => isIn() && void voice.keys?.deafen(),
  };
}
