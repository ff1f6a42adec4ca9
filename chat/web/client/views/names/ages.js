// For how long messages are kept (the manual's page How long things are kept): what may be chosen, and what counts.

import { t } from "../../words/catalogue.js";

/** @typedef {import("../../store/shapes.js").State} State */
/** @typedef {import("../../store/shapes.js").Channel} Channel */

const DAYS = [1, 7, 30, 90, 180, 365];

/** What the instance has set, in days; 0 where it has set nothing. */
function bounds() {
  const { messageDays, messageDaysLeast, messageDaysMost } = document.body.dataset;
  return { own: Number(messageDays ?? 0), least: Number(messageDaysLeast ?? 1), most: Number(messageDaysMost ?? 0) };
}

/**
 * The choices of a guild or a channel, with the value of a select.
 * @param {string} unchosen What counts where nothing is chosen here.
 * @param {number | null | undefined} present What is chosen by now, which stays possible.
 * @returns {(readonly [string, string])[]}
 */
export function ageChoices(unchosen, present) {
  const { least, most } = bounds();
  const possible = DAYS.filter((days) => days >= least && (most === 0 || days <= most));
  const all = new Set([...possible, ...(present ? [present] : [])]);
  const numbers = [...all].sort((one, other) => one - other);
  const always = most === 0 || present === 0 ? [/** @type {const} */ (["0", t("settings.kept_always")])] : [];
  return [
    ["", unchosen],
    ...always,
    ...numbers.map((days) => /** @type {const} */ ([String(days), t("moderation.days", { n: days })])),
  ];
}

/** @param {string} value Of a select of `ageChoices`. @returns {number | null} */
export function ageOf(value) {
  return value === "" ? null : Number(value);
}

/**
 * After how many days messages of a channel are deleted; 0: never.
 * @param {State} state
 * @param {Channel} channel
 */
export function daysKept(state, channel) {
  const { own, least, most } = bounds();
  const above = channel["thread_metadata"] ? state.channels.get(channel.parent_id ?? "") : channel;
  const guild = state.guilds.get(channel.guild_id ?? "")?.properties;
  const chosen = above?.["message_retention_days"] ?? guild?.["message_retention_days"] ?? null;
  if (chosen === null) return own;
  if (chosen === 0) return most;
  return Math.max(least, most === 0 ? chosen : Math.min(chosen, most));
}
