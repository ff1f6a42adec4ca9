// A new session may have missed something: then the newest messages are fetched again, once.

/**
 * @param {import("../../store/store.js").Store} store
 * @param {() => Promise<void>} renew
 */
export function makeRenewal(store, renew) {
  let session = store.read.session.id;
  let isBusy = false;

  /** @param {boolean} hasGap Whether messages are missing behind the last one. */
  return async (hasGap) => {
    const isNew = session !== store.read.session.id;
    if (isBusy || !(isNew || hasGap)) return;
    session = store.read.session.id;
    isBusy = true;
    // What fails now is tried again with the next change.
    await renew().catch(() => null);
    isBusy = false;
  };
}
