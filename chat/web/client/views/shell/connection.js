// What the person should know of the connection: nothing while it lives, and nothing for the first seconds without it.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../store/store.js").Store} Store */

const QUIET_MS = 3000;
const FIRST_QUIET_MS = 10_000;

/** @param {{connection: import("../../net/connection.js").Connection, now: () => number}} parts */
export function makeBanner({ connection, now }) {
  const element = h("div", { class: "banner", role: "status", hidden: "" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {number | null} since when it does not live */
  let since = now();

  function draw() {
    clearTimeout(timer);
    const { name, until, wasLive } = connection.state;
    if (name === "live" || name === "following") {
      since = null;
      element.hidden = true;
      return;
    }
    since ??= now();
    const quiet = since + (wasLive ? QUIET_MS : FIRST_QUIET_MS) - now();
    if (quiet > 0 && name !== "offline") {
      timer = setTimeout(draw, quiet);
      return;
    }
    const left = until === null || name !== "waiting" ? 0 : Math.max(0, Math.ceil((until - now()) / 1000));
    const again = h(
      "button",
      { type: "button", class: "button plain", click: connection.retry },
      t("connection.retry"),
    );
    element.hidden = false;
    fill(element, h("span", {}, wordsOf(name, left)), ...(name === "waiting" || name === "offline" ? [again] : []));
    if (left > 0) timer = setTimeout(draw, 1000);
  }

  const unwatch = connection.watch(draw);
  draw();
  return { element, stop: () => (clearTimeout(timer), unwatch()) };
}

/**
 * @param {string} name
 * @param {number} seconds
 */
function wordsOf(name, seconds) {
  if (name === "offline") return t("connection.offline");
  if (name === "waiting" && seconds > 0) return t("connection.waiting", { n: seconds });
  return t("connection.reconnecting");
}
