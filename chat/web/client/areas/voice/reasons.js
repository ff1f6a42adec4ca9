// Why somebody does not get into voice, or is in it no longer: in words that say what to do.

import { t } from "../../words/catalogue.js";

/** @typedef {import("../../store/shapes.js").State} State */

/** @type {Readonly<Record<string, () => string>>} by the code of an acknowledgement, or by why a room is over */
const REASONS = {
  missing_permissions: () => t("voice.no_right"),
  communication_disabled: () => t("voice.timed_out"),
  unclaimed_account: () => t("voice.unclaimed"),
  channel_full: () => t("voice.full"),
  too_many_connections: () => t("voice.too_many"),
  unknown_channel: () => t("voice.out_channel"),
  unknown_guild: () => t("voice.out_guild"),
  no_engine: () => t("talk.no_sound"),
  no_media: () => t("voice.no_media"),
  unreachable: () => t("voice.unreachable"),
};

/**
 * @param {unknown} why A rejection of `acts.voice.join` or of `enterRoom`.
 * @param {boolean} isCall In a conversation nobody gives rights: somebody has blocked somebody.
 */
export function reasonOf(why, isCall) {
  const code = why instanceof Error && "code" in why ? why.code : why;
  if (isCall && code === "missing_permissions") return t("call.refused");
  return (REASONS[String(code)] ?? (() => t("voice.silent")))();
}

/**
 * Why the server has ended a connection, as far as it can be seen.
 * @param {State} state
 * @param {{guildId: string | null, channelId: string}} room
 */
export function outOf(state, { guildId, channelId }) {
  if (guildId !== null && !state.guilds.has(guildId)) return t("voice.out_guild");
  if (!state.channels.has(channelId)) return t("voice.out_channel");
  return guildId === null ? t("call.over") : t("voice.out");
}
