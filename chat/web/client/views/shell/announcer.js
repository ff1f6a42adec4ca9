// What is read out by screen readers and not seen: one line at a time, and few of them.

import { h } from "../../base/dom.js";

const PAUSE_MS = 150;

export function makeAnnouncer() {
  const region = h("div", { class: "unseen", role: "log", "aria-live": "polite", "aria-relevant": "additions" });
  document.body.append(region);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return (/** @type {string} */ words) => {
    clearTimeout(timer);
    // Within a moment the last one counts: a burst would be read for minutes.
    timer = setTimeout(() => region.replaceChildren(h("p", {}, words)), PAUSE_MS);
  };
}
