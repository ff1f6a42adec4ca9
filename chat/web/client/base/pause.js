// Waiting, until the time is over or the signal says that nobody waits any more.

/**
 * @param {number} ms
 * @param {AbortSignal} [signal] rejects with its reason.
 * @returns {Promise<void>}
 */
export function pause(ms, signal) {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}
