// The buttons of somebody who is in voice: in the bar, and below cameras and screens.

import { h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("./session.js").Session} Session */

/**
 * @param {App} app
 * @param {Session} session
 */
export function makeControls(app, session) {
  const { voice } = app;
  const { own } = session;
  const mute = iconButton("microphone", "", own.mute);
  const deafen = iconButton("headphones", "", own.deafen);
  const camera = iconButton("camera", "", () => own.toggle("CAMERA"));
  const screen = iconButton("screen", "", () => own.toggle("SCREEN_SHARE"));
  const settings = iconButton("settings", t("voice.settings"), () => app.go("/channels/@me/settings/voice"));
  // Telephones show no screens.
  screen.hidden = !navigator.mediaDevices || !("getDisplayMedia" in navigator.mediaDevices);
  const element = h("div", { class: "voice-controls", role: "group", "aria-label": t("voice.controls") });
  element.append(mute, deafen, camera, screen, settings);

  function draw() {
    const { isMuted, isDeaf, hasCamera, hasScreen } = voice.now;
    const isSilent = isMuted || isDeaf;
    put(mute, isSilent ? "microphone-off" : "microphone", isSilent ? t("voice.unmute") : t("voice.mute"), isSilent);
    put(deafen, isDeaf ? "headphones-off" : "headphones", isDeaf ? t("voice.undeafen") : t("voice.deafen"), isDeaf);
    put(camera, "camera", hasCamera ? t("voice.camera_off") : t("voice.camera_on"), false, hasCamera);
    put(screen, "screen", hasScreen ? t("voice.screen_off") : t("voice.screen_on"), false, hasScreen);
  }

  return { element, draw };
}

/**
 * @param {HTMLElement} button
 * @param {string} sign
 * @param {string} label
 * @param {boolean} isOff
 * @param {boolean} [isOn]
 */
function put(button, sign, label, isOff, isOn = false) {
  if (button.title !== label) {
    button.replaceChildren(icon(sign));
    button.title = button.ariaLabel = label;
  }
  button.classList.toggle("is-off", isOff);
  button.classList.toggle("is-on", isOn);
}
