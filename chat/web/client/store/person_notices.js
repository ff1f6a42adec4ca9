// What the account has chosen for single persons: of whose messages it is always told, and of whose never.

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Id} Id */

const BLOCKED = 2;
const NO_MESSAGES = 2;

/**
 * What the account has chosen for somebody's messages; null where they notify as their places are set.
 * @param {State} state
 * @param {Id} userId
 * @returns {0 | 2 | null}
 */
export function personLevel(state, userId) {
  return /** @type {0 | 2 | undefined} */ (state.settings?.["person_notifications"]?.[userId]) ?? null;
}

/**
 * Whether nothing that somebody says notifies the account, or counts as a mention.
 * @param {State} state
 * @param {Id} userId
 */
export function isSilenced(state, userId) {
  return state.relationships.get(userId)?.["type"] === BLOCKED || personLevel(state, userId) === NO_MESSAGES;
}
