// Whether somebody is there, as a sign that differs by its shape as well as by its colour.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";

/** @type {Readonly<Record<string, () => string>>} */
const WORDS = {
  online: () => t("presence.online"),
  idle: () => t("presence.idle"),
  dnd: () => t("presence.dnd"),
  invisible: () => t("presence.invisible"),
  offline: () => t("presence.offline"),
};

/** @param {string} status */
export function presenceWords(status) {
  return (WORDS[status] ?? WORDS["offline"])?.() ?? "";
}

/** @param {string} status */
export function presenceDot(status) {
  const dot = h("span", { class: "presence", role: "img", "aria-label": presenceWords(status) });
  dot.dataset["status"] = status === "invisible" ? "offline" : status;
  return dot;
}
