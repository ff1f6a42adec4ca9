// Messages on their way: shown at once, and gone when their Message Create comes.

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Touch} Touch */
/** @typedef {import("./shapes.js").Unsent} Unsent */

/** How long the server knows a nonce: so long may a message be sent again without becoming two. */
export const NONCE_MS = 5 * 60 * 1000;

const WAITING = new Set(["queued", "sending", "unsure"]);

/**
 * @param {State} state
 * @param {Unsent} unsent
 * @param {Touch} touch
 */
export function putUnsent(state, unsent, touch) {
  state.outbox.set(unsent.nonce, unsent);
  touch(`log:${unsent.channel}`);
}

/**
 * @param {State} state
 * @param {string} nonce
 * @param {Touch} touch
 */
export function dropUnsent(state, nonce, touch) {
  const unsent = state.outbox.get(nonce);
  state.outbox.delete(nonce);
  if (unsent) touch(`log:${unsent.channel}`);
}

/**
 * What a channel has to send next: its oldest message that was not refused, so that their order is kept.
 * @param {State} state
 * @param {string} channelId
 * @returns {Unsent | null}
 */
export function nextUnsent(state, channelId) {
  for (const unsent of state.outbox.values()) {
    if (unsent.channel === channelId && WAITING.has(unsent.state)) return unsent;
  }
  return null;
}

/**
 * Whether a message that may have arrived can be sent again without becoming two.
 * @param {Unsent} unsent
 * @param {number} now
 */
export function isRepeatable(unsent, now) {
  return unsent.state !== "unsure" || now - unsent.since < NONCE_MS;
}
