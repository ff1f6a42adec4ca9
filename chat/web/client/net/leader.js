// Which tab of a browser holds the connection: the one that has the lock. A browser gives it on when the tab closes; a
// tab that hangs loses it to one that asks in vain.

/** Locks and channels between tabs are there on https and on localhost. */
export const canShare = () => "locks" in navigator && "BroadcastChannel" in globalThis;

/** @param {{name: string, won: () => void, lost: () => void}} parts `lost`: another tab has taken the lock. */
export function makeLeader({ name, won, lost }) {
  let leads = false;
  let waiting = new AbortController();
  /** @type {() => void} */
  let release = () => {};

  /** @param {LockOptions} options */
  async function ask(options) {
    try {
      await navigator.locks.request(name, options, () => {
        leads = true;
        won();
        return new Promise((resolve) => {
          release = () => resolve(undefined);
        });
      });
    } catch {
      if (!leads) return;
      leads = false;
      lost();
      start();
    }
  }

  function start() {
    waiting = new AbortController();
    void ask({ signal: waiting.signal });
  }

  return {
    leads: () => leads,
    start,
    /** Take the lock from a tab that does not answer. */
    steal() {
      if (leads) return;
      waiting.abort();
      void ask({ steal: true });
    },
    stop() {
      waiting.abort();
      release();
      leads = false;
    },
  };
}
