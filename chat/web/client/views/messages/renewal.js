// A new session may have missed something: then the newest messages are fetched again, once. Where the server has said
// that messages may be others by now, those around what is read are fetched again.

const FETCHED = 50;

/**
 * @param {object} parts
 * @param {import("../../store/store.js").Store} parts.store
 * @param {Pick<import("../../acts/acts.js").Acts, "messages">} parts.acts
 * @param {string} parts.channelId
 * @param {Pick<ReturnType<typeof import("./keeper.js").makeKeeper>, "measure">} parts.keeper
 * @param {HTMLElement} parts.rows
 * @param {() => Promise<void>} toNewest
 */
export function makeRenewal({ store, acts, channelId, keeper, rows }, toNewest) {
  let session = store.read.session.id;
  let isBusy = false;

  /** A page around the first message in sight. */
  function around() {
    const below = [...rows.children].slice(keeper.measure().counts.above);
    const id = below.map((row) => row.querySelector("article")?.dataset["id"]).find(Boolean);
    return id ? acts.messages.history(channelId, { around: id, limit: FETCHED }) : toNewest();
  }

  /**
   * @param {import("../../store/shapes.js").Log | undefined} log One with messages missing behind the last has a gap.
   * @param {boolean} wasAtEnd
   */
  return async (log, wasAtEnd) => {
    const isNew = session !== store.read.session.id;
    const isWanted = log?.isOld || (wasAtEnd && (isNew || log?.after));
    if (isBusy || !isWanted) return;
    if (wasAtEnd) session = store.read.session.id;
    isBusy = true;
    // What fails now is tried again with the next change.
    await (wasAtEnd ? toNewest() : around()).catch(() => null);
    isBusy = false;
  };
}
