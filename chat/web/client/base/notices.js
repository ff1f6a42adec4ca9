// How this browser tells of messages while a tab is open: kept here, since a device in a pocket and one in an office
// want different things. The sounds are made by the browser; no file is loaded.

/** @typedef {"chime" | "drop" | "knock" | "none"} Sound */
/**
 * @typedef {object} Notices
 * @property {boolean} shows Whether notifications are shown, where the browser permits it.
 * @property {Sound} sound
 */

const KEY = "notices";

/** @type {Readonly<Notices>} */
export const USUAL = Object.freeze({ shows: true, sound: "chime" });

/** @typedef {readonly [number, number, number]} Tone Hertz, from when and how long (seconds). */

/** @type {Readonly<Record<Exclude<Sound, "none">, readonly Tone[]>>} */
const TONES = {
  chime: [
    [880, 0, 0.25],
    [1318.5, 0.1, 0.45],
  ],
  drop: [
    [740, 0, 0.15],
    [494, 0.09, 0.3],
  ],
  knock: [
    [196, 0, 0.08],
    [196, 0.14, 0.1],
  ],
};

/** A telephone's: twice the same, then a pause until it is rung again. @type {readonly Tone[]} */
const RING = [
  [659.3, 0, 0.3],
  [784, 0.2, 0.3],
  [659.3, 0.4, 0.3],
  [784, 0.6, 0.5],
];

export const SOUNDS = /** @type {readonly Sound[]} */ ([...Object.keys(TONES), "none"]);
const LOUDNESS = 0.2;

/** @returns {Notices} */
export function keptNotices() {
  try {
    return { ...USUAL, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return USUAL;
  }
}

/** @param {Notices} notices */
export function keepNotices(notices) {
  localStorage.setItem(KEY, JSON.stringify(notices));
}

/** @type {{context: AudioContext | null}} */
const audio = { context: null };

/**
 * A browser lets nothing sound before the person has touched the page.
 * @param {Sound} sound
 */
export async function play(sound) {
  if (sound !== "none") await sounded(TONES[sound]);
}

/**
 * Rings once.
 * @param {() => boolean} isWanted Asked when it can sound: the person may touch the page when nobody calls any more.
 */
export async function ring(isWanted) {
  if (keptNotices().sound !== "none") await sounded(RING, isWanted);
}

/**
 * @param {readonly Tone[]} tones
 * @param {() => boolean} [isWanted]
 */
async function sounded(tones, isWanted = () => true) {
  audio.context ??= new AudioContext();
  const { context } = audio;
  if (context.state !== "running") await context.resume();
  if (!isWanted()) return;
  for (const [hertz, from, long] of tones) {
    const at = context.currentTime + from;
    const tone = context.createOscillator();
    const loudness = context.createGain();
    tone.type = "sine";
    tone.frequency.value = hertz;
    loudness.gain.setValueAtTime(0, at);
    loudness.gain.linearRampToValueAtTime(LOUDNESS, at + 0.01);
    loudness.gain.exponentialRampToValueAtTime(0.0001, at + long);
    tone.connect(loudness).connect(context.destination);
    tone.start(at);
    tone.stop(at + long);
  }
}
