// What a page of settings asks the server for as it opens. What could not be reached is asked for again by itself.

/** @typedef {import("../shell/app.js").App} App */

/**
 * @param {App} app
 * @param {() => Promise<unknown>} ask Fetches and draws.
 */
export function load(app, ask) {
  ask().catch((error) => {
    app.report(error);
    if (error.status === 0) whenReachable(app, () => load(app, ask));
  });
}

/**
 * Once, as soon as the browser or the connection says that there is a network again.
 * @param {App} app
 * @param {() => void} run
 */
function whenReachable({ store }, run) {
  const controller = new AbortController();
  const ended = () => {
    controller.abort();
    unwatch();
    run();
  };
  const wasLive = store.read.session.live;
  const unwatch = store.watch(["session"], () => store.read.session.live && !wasLive && ended());
  window.addEventListener("online", ended, { signal: controller.signal });
}
