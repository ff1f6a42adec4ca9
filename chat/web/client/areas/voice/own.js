// A person's own part in voice: the microphone that is on or off, the ears, the camera, the screen.

import { hindranceWords } from "../../views/names/voice.js";
import { t } from "../../words/catalogue.js";
import { makeSending } from "./sending.js";

/** @typedef {import("./sending.js").Kind} Kind */
/** @typedef {import("./sending.js").Trouble} Trouble */

/**
 * @param {import("../../views/shell/app.js").App} app
 * @param {object} parts
 * @param {() => void} parts.told Tell the others.
 * @param {() => void} parts.changed What is shown may have changed.
 * @param {(deaf: boolean) => void} parts.deafen
 * @param {() => boolean} parts.isIn
 */
export function makeOwn({ voice, layers }, { told, changed, deafen, isIn }) {
  const sending = makeSending({ changed: devices, failed: hindered });
  let isByKey = false;
  let isHeld = false;

  function silence() {
    const { isMuted, isDeaf } = voice.now;
    sending.silence(isMuted || isDeaf || (isByKey && !isHeld));
    deafen(isDeaf);
  }

  function devices() {
    const [hasCamera, hasScreen] = [sending.has("CAMERA"), sending.has("SCREEN_SHARE")];
    const isOther = hasCamera !== voice.now.hasCamera || hasScreen !== voice.now.hasScreen;
    voice.put({ hasCamera, hasScreen, ...(sending.has("MICROPHONE") ? { problem: null } : {}) });
    if (isOther) told();
    changed();
  }

  /** @param {Kind} kind @param {Trouble} why */
  function hindered(kind, why) {
    if (why === "cancelled") return;
    const words = why === "not_taken" ? t("voice.not_taken") : hindranceWords(kind, why);
    if (kind === "MICROPHONE") return voice.put({ problem: words });
    layers.toast(words);
    return sending.stop(kind);
  }

  return {
    sending,
    silence,
    /** As the others see it. @returns {import("../../acts/voice.js").Own} */
    state() {
      const { isMuted, isDeaf, hasCamera, hasScreen } = voice.now;
      return { self_mute: isMuted || isDeaf, self_deaf: isDeaf, self_video: hasCamera, self_stream: hasScreen };
    },
    mute() {
      // Who has no microphone yet and presses it wants one; who is deaf and speaks wants to hear as well.
      if (isIn() && !sending.has("MICROPHONE")) void sending.start("MICROPHONE");
      const wasOff = voice.now.isMuted || voice.now.isDeaf;
      voice.put({ isMuted: !wasOff, isDeaf: false });
      silence();
      told();
    },
    deafen() {
      voice.put({ isDeaf: !voice.now.isDeaf });
      silence();
      told();
    },
    /** @param {"CAMERA" | "SCREEN_SHARE"} kind */
    toggle: (kind) => (sending.has(kind) ? sending.stop(kind) : void sending.start(kind)),
    /**
     * @param {boolean} only Whether the microphone is on only while a key is held.
     * @param {boolean} held Whether it is.
     */
    byKey(only, held) {
      [isByKey, isHeld] = [only, held];
      silence();
    },
  };
}
