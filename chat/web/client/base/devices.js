// Microphone, camera and loudspeaker of this browser: which ones the person chose, and how they are opened.

/**
 * @typedef {object} Devices
 * @property {string} microphone Its id; empty: the browser's choice.
 * @property {string} camera
 * @property {string} speaker
 * @property {boolean} echo Whether what the loudspeaker plays is taken out of the microphone's sound.
 * @property {boolean} noise Whether noise is taken out of it.
 * @property {boolean} gain Whether a voice is made as loud as others.
 * @property {boolean} byKey Whether the microphone is on only while a key is held.
 * @property {string} key The place of that key on the keyboard, as `event.code` has it.
 * @property {Record<string, number>} volumes How loud people are here, in percent, by account.
 */
/** @typedef {"refused" | "missing" | "busy" | "insecure" | "cancelled"} Hindrance Why a device does not open. */

const KEY = "voice";
export const VOLUME = Object.freeze({ usual: 100, most: 200 });

/** @type {Readonly<Devices>} */
const USUAL = Object.freeze({
  microphone: "",
  camera: "",
  speaker: "",
  echo: true,
  noise: true,
  gain: true,
  byKey: false,
  key: "Backquote",
  volumes: Object.freeze({}),
});

/** @type {Readonly<Record<string, Hindrance>>} by the name of what the browser throws */
const HINDRANCES = {
  NotAllowedError: "refused",
  SecurityError: "refused",
  NotFoundError: "missing",
  OverconstrainedError: "missing",
  NotReadableError: "busy",
  AbortError: "busy",
};

export class NoDevice extends Error {
  /** @param {Hindrance} hindrance */
  constructor(hindrance) {
    super(hindrance);
    this.hindrance = hindrance;
  }
}

/** @returns {Devices} */
export function keptDevices() {
  try {
    return { ...USUAL, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { ...USUAL };
  }
}

/**
 * Keep a choice, and tell whoever uses devices in this tab.
 * @param {Partial<Devices>} change
 */
export function keepDevices(change) {
  localStorage.setItem(KEY, JSON.stringify({ ...keptDevices(), ...change }));
  window.dispatchEvent(new CustomEvent("devices", { detail: Object.keys(change) }));
}

/**
 * Hear of choices: which of them changed.
 * @param {(changed: (keyof Devices)[]) => void} run
 * @returns {() => void} ends it
 */
export function watchDevices(run) {
  const heard = (/** @type {Event} */ event) => run(/** @type {CustomEvent} */ (event).detail);
  window.addEventListener("devices", heard);
  return () => window.removeEventListener("devices", heard);
}

/**
 * @param {() => Promise<MediaStream>} ask
 * @returns {Promise<MediaStream>} Rejects with NoDevice.
 */
async function opened(ask) {
  // Browsers hide devices from pages that come unencrypted by another name than localhost.
  if (!navigator.mediaDevices) throw new NoDevice("insecure");
  try {
    return await ask();
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    throw new NoDevice(HINDRANCES[name] ?? "busy");
  }
}

/**
 * One that was chosen and is not plugged in gives way to the browser's choice.
 * @param {string} id
 */
const one = (id) => (id === "" ? {} : { deviceId: { ideal: id } });

/** The microphone's sound. @returns {Promise<MediaStream>} */
export function openMicrophone() {
  const { microphone, echo, noise, gain } = keptDevices();
  const audio = { ...one(microphone), echoCancellation: echo, noiseSuppression: noise, autoGainControl: gain };
  return opened(() => navigator.mediaDevices.getUserMedia({ audio }));
}

/** The camera's picture. @returns {Promise<MediaStream>} */
export function openCamera() {
  const size = { width: { ideal: 960 }, height: { ideal: 540 }, frameRate: { ideal: 24 } };
  return opened(() => navigator.mediaDevices.getUserMedia({ video: { ...one(keptDevices().camera), ...size } }));
}

/**
 * A screen or a window that the person picks, with its sound where the browser has it.
 * @returns {Promise<MediaStream>}
 */
export function openScreen() {
  const video = { width: { max: 1920 }, height: { max: 1080 }, frameRate: { max: 30 } };
  const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  return opened(() => navigator.mediaDevices.getDisplayMedia({ video, audio })).catch((error) => {
    // Who closes the browser's question has thought better of it.
    throw error instanceof NoDevice && error.hindrance === "refused" ? new NoDevice("cancelled") : error;
  });
}

/** @param {MediaStream | null | undefined} stream */
export function close(stream) {
  for (const track of stream?.getTracks() ?? []) track.stop();
}
