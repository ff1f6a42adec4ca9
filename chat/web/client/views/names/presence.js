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

/** @param {string} status @param {boolean} [isSaid] Whether words beside it say the same. */
export function presenceDot(status, isSaid = false) {
  const spoken = isSaid ? { "aria-hidden": "true" } : { role: "img", "aria-label": presenceWords(status) };
  const dot = h("span", { class: "presence", ...spoken });
  dot.dataset["status"] = status === "invisible" ? "offline" : status;
  return dot;
}

/**
 * Whether somebody is there and what they say of it, as far as it is known: of the account itself what it chose, of
 * friends what the gateway tells, of members what their guild's lists tell while they are looked at.
 * @param {import("../../store/shapes.js").State} state
 * @param {string} userId
 * @param {string | null} guildId
 * @returns {import("../../store/shapes.js").Seen | undefined}
 */
export function presenceOf(state, userId, guildId) {
  if (userId === state.session.me) {
    const { status = "online", custom_status = null } = state.settings ?? {};
    return status === "invisible" ? undefined : { status, custom_status };
  }
  const told = state.presences.get(userId);
  if (told || guildId === null) return told;
  for (const [key, { rows }] of state.lists) {
    if (!key.startsWith(`${guildId}:`)) continue;
    for (const { member } of rows.values()) {
      if (member?.user.id === userId && member.presence) return member.presence;
    }
  }
  return undefined;
}
