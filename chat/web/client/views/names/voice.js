// What hinders sound and pictures, in words that say what to do.

import { t } from "../../words/catalogue.js";

/** @typedef {import("../../base/devices.js").Hindrance} Hindrance */

/** @type {Readonly<Record<Hindrance, () => string>>} */
const MICROPHONE = {
  refused: () => t("voice.microphone_refused"),
  missing: () => t("voice.microphone_missing"),
  busy: () => t("voice.microphone_busy"),
  insecure: () => t("voice.insecure"),
  cancelled: () => t("voice.microphone_refused"),
};

/** @type {Readonly<Record<Hindrance, () => string>>} */
const CAMERA = {
  refused: () => t("voice.camera_refused"),
  missing: () => t("voice.camera_missing"),
  busy: () => t("voice.camera_busy"),
  insecure: () => t("voice.insecure"),
  cancelled: () => t("voice.camera_refused"),
};

/**
 * Why a device does not open.
 * @param {"MICROPHONE" | "CAMERA" | "SCREEN_SHARE"} kind
 * @param {Hindrance} why
 */
export function hindranceWords(kind, why) {
  if (kind === "SCREEN_SHARE") return why === "insecure" ? t("voice.insecure") : t("voice.screen_refused");
  return (kind === "CAMERA" ? CAMERA : MICROPHONE)[why]();
}
