// What one tab tells another that has just opened: all that it knows, but for messages, which each fetches for itself,
// and what waits to be sent, which the browser keeps.

import { renew } from "./ready.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {Omit<State, "logs" | "fetching" | "outbox" | "used" | "drafts">} Clone */

/**
 * @param {State} state
 * @returns {Clone}
 */
export function cloneOf({ logs, fetching, outbox, used, drafts, ...known }) {
  return known;
}

/**
 * @param {State} state
 * @param {Clone} clone
 * @param {import("./shapes.js").Touch} touch
 */
export function adopt(state, clone, touch) {
  renew(state, touch, () => Object.assign(state, clone));
  for (const key of state.lists.keys()) touch(`list:${key}`);
  for (const id of state.voice.keys()) touch(`voice:${id}`);
  for (const id of state.calls.keys()) touch(`voice:${id}`);
  for (const id of state.typing.keys()) touch(`typing:${id}`);
}
