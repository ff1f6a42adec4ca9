// How a message stands under the one before it. Pure, and it sees only that one: an insertion redraws two rows at most.

/**
 * @typedef {{id: string, type: number, timestamp: string, author: {id: string, username: string},
 *   webhook_id?: string | null, message_reference?: unknown, interaction_metadata?: unknown}} Grouped
 */

/** @typedef {{isDay: boolean, isFirst: boolean}} Standing a new day begins with it; it shows its author */

const TOGETHER_MS = 7 * 60_000;
const WRITTEN = 0;

/**
 * @param {Grouped} message
 * @param {Grouped | null} before
 * @param {boolean} isDay whether the reader's calendar has another day between them
 * @returns {Standing}
 */
export function standing(message, before, isDay) {
  if (before === null) return { isDay: true, isFirst: true };
  const time = Date.parse(message.timestamp);
  const earlier = Date.parse(before.timestamp);
  return { isDay, isFirst: isDay || !isSameVoice(message, before) || Math.abs(time - earlier) >= TOGETHER_MS };
}

/**
 * Written by the same one, as one goes on talking. A webhook may take another name with each message.
 * @param {Grouped} message
 * @param {Grouped} before
 */
function isSameVoice(message, before) {
  return (
    message.type === WRITTEN &&
    (before.type === WRITTEN || before.type === 19) &&
    message.author.id === before.author.id &&
    message.author.username === before.author.username &&
    (message.webhook_id ?? null) === (before.webhook_id ?? null) &&
    !message.message_reference &&
    !message.interaction_metadata
  );
}
