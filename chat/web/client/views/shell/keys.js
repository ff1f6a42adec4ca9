// Keys that work everywhere, as one table: it is obeyed and it is shown (Ctrl /).

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";

/**
 * @typedef {object} Key
 * @property {string} name Of its words, and of what it does.
 * @property {string} key As `event.key` has it.
 * @property {string} [code] Of the place on the keyboard, for scripts other than Latin.
 * @property {boolean} [ctrl] Cmd on a Mac.
 * @property {boolean} [alt]
 * @property {boolean} [shift]
 */

/** @type {readonly Key[]} */
export const KEYS = [
  { name: "switcher", key: "k", code: "KeyK", ctrl: true },
  { name: "keys", key: "/", code: "Slash", ctrl: true },
  { name: "region", key: "F6" },
  { name: "channel_up", key: "ArrowUp", alt: true },
  { name: "channel_down", key: "ArrowDown", alt: true },
  { name: "unread_up", key: "ArrowUp", alt: true, shift: true },
  { name: "unread_down", key: "ArrowDown", alt: true, shift: true },
  { name: "guild_up", key: "ArrowUp", ctrl: true, alt: true },
  { name: "guild_down", key: "ArrowDown", ctrl: true, alt: true },
  { name: "guild_read", key: "Escape", shift: true },
  { name: "read", key: "Escape" },
  { name: "voice_mute", key: "M", code: "KeyM", ctrl: true, shift: true },
  { name: "voice_deafen", key: "D", code: "KeyD", ctrl: true, shift: true },
];

/** What acts in its own place, and is listed with the others. */
const ELSEWHERE = [
  ["edit_last", "\u2191"],
  ["into_rows", "Shift \u2191"],
  ["emoji", "Ctrl E"],
  ["bold", "Ctrl B"],
  ["italic", "Ctrl I"],
  ["struck", "Ctrl Shift X"],
  ["code", "Ctrl E"],
  ["row_edit", "E"],
  ["row_reply", "R"],
  ["row_pin", "P"],
  ["row_copy", "C"],
  ["row_react", "+"],
  ["row_unread", "U"],
  ["row_delete", "Delete"],
  ["row_menu", "Enter"],
];

const IS_MAC = /Mac|iPhone|iPad/;

/**
 * @param {Readonly<Record<string, () => boolean | void>>} acts by the names of KEYS; false lets the key go on
 * @param {() => boolean} isBusy whether something lies above the views, which has the keys
 */
export function makeKeys(acts, isBusy) {
  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.isComposing || event.defaultPrevented || isBusy()) return;
    const key = KEYS.find((one) => isPressed(one, event));
    if (key && acts[key.name]?.() !== false) event.preventDefault();
  }

  document.addEventListener("keydown", pressed);
  return { stop: () => document.removeEventListener("keydown", pressed) };
}

/**
 * @param {Key} key
 * @param {KeyboardEvent} event
 */
function isPressed({ key, code, ctrl = false, alt = false, shift = false }, event) {
  const control = event.ctrlKey || event.metaKey;
  const isIt = event.key === key || (code !== undefined && control && event.code === code);
  // The slash lies on a shifted key on many keyboards.
  return isIt && control === ctrl && event.altKey === alt && (event.shiftKey === shift || key === "/");
}

/** The list of keys, as a table. */
export function keyList() {
  const control = IS_MAC.test(navigator.userAgent) ? "Cmd" : "Ctrl";
  const rows = [...KEYS.map((key) => [key.name, nameOf(key, control)]), ...ELSEWHERE];
  const list = h("dl", { class: "keys" });
  for (const [name = "", keys = ""] of rows) {
    const parts = keys
      .replace("Ctrl", control)
      .split(" ")
      .map((part) => h("kbd", {}, part));
    list.append(h("dt", {}, WORDS[name]?.() ?? ""), h("dd", {}, ...parts));
  }
  return list;
}

/**
 * @param {Key} key
 * @param {string} control
 */
function nameOf({ key, ctrl, alt, shift }, control) {
  const sign = key.replace("ArrowUp", "\u2191").replace("ArrowDown", "\u2193").toUpperCase();
  return [ctrl && control, alt && "Alt", shift && "Shift", sign === "ESCAPE" ? "Esc" : sign].filter(Boolean).join(" ");
}

/** @type {Readonly<Record<string, () => string>>} */
const WORDS = {
  switcher: () => t("keys.switcher"),
  keys: () => t("keys.keys"),
  region: () => t("keys.region"),
  channel_up: () => t("keys.channel_up"),
  channel_down: () => t("keys.channel_down"),
  unread_up: () => t("keys.unread_up"),
  unread_down: () => t("keys.unread_down"),
  guild_up: () => t("keys.guild_up"),
  guild_down: () => t("keys.guild_down"),
  guild_read: () => t("keys.guild_read"),
  read: () => t("keys.read"),
  voice_mute: () => t("keys.voice_mute"),
  voice_deafen: () => t("keys.voice_deafen"),
  edit_last: () => t("keys.edit_last"),
  into_rows: () => t("keys.into_rows"),
  emoji: () => t("keys.emoji"),
  bold: () => t("format.bold"),
  italic: () => t("format.italic"),
  struck: () => t("format.struck"),
  code: () => t("keys.code"),
  row_edit: () => t("keys.row_edit"),
  row_reply: () => t("keys.row_reply"),
  row_pin: () => t("keys.row_pin"),
  row_copy: () => t("keys.row_copy"),
  row_react: () => t("keys.row_react"),
  row_unread: () => t("keys.row_unread"),
  row_delete: () => t("keys.row_delete"),
  row_menu: () => t("keys.row_menu"),
};
