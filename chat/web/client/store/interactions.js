// What the account did with components and no application has answered yet, and the answers that it alone sees. The
// server keeps these in no history, so no page of one brings them.

import { BITS, may } from "./permissions.js";
import { compareIds } from "./shapes.js";

/** @typedef {import("./shapes.js").Id} Id */
/** @typedef {import("./shapes.js").Message} Message */
/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Touch} Touch */
/** @typedef {import("./shapes.js").Used} Used */

const EPHEMERAL = 1 << 6;

/**
 * Whether applications can be asked in a channel: where one may write, and in a conversation that has one.
 * @param {State} state
 * @param {Id | null} channelId
 */
export function mayAskApps(state, channelId) {
  const channel = state.channels.get(channelId ?? "");
  if (channel === undefined) return false;
  if (channel.guild_id) return may(state, channel, BITS.SEND_MESSAGES);
  return (channel.recipients ?? []).some(({ id }) => Boolean(state.users.get(id)?.bot));
}

/**
 * Whether the account alone sees a message.
 * @param {{flags: number}} message
 */
export function isEphemeral({ flags }) {
  return (flags & EPHEMERAL) !== 0;
}

/**
 * @param {State} state
 * @param {Message} message
 */
export function keepEphemeral(state, message) {
  if (!isEphemeral(message)) return;
  const kept = state.ephemeral.get(message.channel_id) ?? new Map();
  state.ephemeral.set(message.channel_id, kept.set(message.id, message));
}

/**
 * The ids of a log with those of the ephemeral messages that were said in its stretch.
 * @param {State} state
 * @param {Id} channelId
 * @param {{ids: Id[], byId: Map<Id, Message>, before: boolean, after: boolean}} log
 * @returns {Id[]}
 */
export function withEphemeral(state, channelId, { ids, byId, before, after }) {
  const [first, last] = [ids[0] ?? "", ids.at(-1) ?? ""];
  const kept = [...(state.ephemeral.get(channelId)?.values() ?? [])];
  const missing = kept.filter(
    ({ id }) =>
      !byId.has(id) && (!before || compareIds(id, first) > 0) && (!after || compareIds(id, last) < 0),
  );
  for (const message of missing) byId.set(message.id, message);
  return [...ids, ...missing.map(({ id }) => id)].sort(compareIds);
}

/**
 * The newest message of a log that others see as well.
 * @param {import("./shapes.js").Log | undefined} log
 * @returns {Id | null}
 */
export function newestShared(log) {
  return log?.ids.findLast((id) => !isEphemeral(log.byId.get(id) ?? { flags: 0 })) ?? null;
}

/**
 * A component of a message waits for its application, got no answer, or (null) was answered. What was done with the
 * same message before is forgotten.
 * @param {State} state
 * @param {string} nonce
 * @param {Id} channelId
 * @param {Used | null} used
 * @param {Touch} touch
 */
export function putUsed(state, nonce, channelId, used, touch) {
  for (const [other, { message, state: now }] of state.used) {
    if (message === used?.message && now === "silent") state.used.delete(other);
  }
  if (used === null) state.used.delete(nonce);
  else state.used.set(nonce, used);
  touch(`log:${channelId}`);
}

/**
 * What was last done with the components of a message, as long as that is not answered.
 * @param {State} state
 * @param {Id} messageId
 * @returns {Used | null}
 */
export function usedOf(state, messageId) {
  return [...state.used.values()].findLast(({ message }) => message === messageId) ?? null;
}
