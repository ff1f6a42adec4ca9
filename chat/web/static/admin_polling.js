// Asking again and again for what changes by itself: soon while it moves, more and more rarely while it does not, and not
// at all while nobody looks or the place is left.

import { pause } from "../client/base/pause.js";
import { ApiError } from "./api.js";

const SHORTEST_MS = 1_000;
const LONGEST_MS = 15_000;
const GROWTH = 1.6;

/**
 * @template Seen
 * @param {Seen} first
 * @param {() => Promise<Seen>} read
 * @param {(now: Seen) => void} show
 * @param {{signal: AbortSignal, isDone: (now: Seen) => boolean, shortest?: number}} options
 */
export async function polled(first, read, show, { signal, isDone, shortest = SHORTEST_MS }) {
  let text = JSON.stringify(first);
  let wait = shortest;
  try {
    for (;;) {
      await pause(wait, signal);
      await seen(signal);
      let now;
      try {
        now = await read();
      } catch (error) {
        // What failed once, for want of a network or because it was too often, may work later.
        if (!(error instanceof ApiError) || (error.status !== 0 && error.status !== 429 && error.status < 500)) throw error;
        wait = LONGEST_MS;
        continue;
      }
      const changed = JSON.stringify(now);
      wait = changed === text ? Math.min(wait * GROWTH, LONGEST_MS) : shortest;
      if (changed !== text) show(now);
      text = changed;
      if (isDone(now)) return;
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof ApiError)) throw error;
  }
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function seen(signal) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const ended = new AbortController();
    const change = () => {
      if (document.hidden) return;
      ended.abort();
      resolve();
    };
    document.addEventListener("visibilitychange", change, { signal: ended.signal });
    signal.addEventListener("abort", () => (ended.abort(), reject(signal.reason)), { once: true, signal: ended.signal });
  });
}
