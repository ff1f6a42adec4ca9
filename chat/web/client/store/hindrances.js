// Why somebody cannot write in a channel, before it is tried.

import { BITS, may } from "./permissions.js";

/** @typedef {import("./shapes.js").Channel} Channel */
/** @typedef {import("./shapes.js").State} State */
/**
 * @typedef {object} Hindrance
 * @property {"forbidden" | "timeout" | "locked" | "blocked"} why
 * @property {number | null} until Unix milliseconds, where it ends by itself.
 */

const DIRECT = 1;
const BLOCKED = 2;

/**
 * @param {State} state
 * @param {Channel} channel
 * @param {number} now Unix milliseconds.
 * @returns {Hindrance | null}
 */
export function hindranceOf(state, channel, now) {
  if (!channel.guild_id) {
    const isBlocked = channel.recipients?.some(({ id }) => state.relationships.get(id)?.["type"] === BLOCKED);
    return channel.type === DIRECT && isBlocked ? { why: "blocked", until: null } : null;
  }
  const thread = channel["thread_metadata"];
  if (!may(state, channel, thread ? BITS.SEND_MESSAGES_IN_THREADS : BITS.SEND_MESSAGES))
    return { why: "forbidden", until: null };
  const until = timeoutOf(state, channel.guild_id);
  if (until > now) return { why: "timeout", until };
  if (thread?.locked && !may(state, channel, BITS.MANAGE_THREADS)) return { why: "locked", until: null };
  return null;
}

/**
 * When the account's time-out in a guild ends; 0 where there is none.
 * @param {State} state
 * @param {string} guildId
 */
function timeoutOf(state, guildId) {
  const member = state.guilds.get(guildId)?.members.get(state.session.me);
  return Date.parse(member?.["communication_disabled_until"] ?? "") || 0;
}
