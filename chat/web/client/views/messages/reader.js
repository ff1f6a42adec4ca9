// What counts as read: the newest row, seen at the end of the list, in a page that is looked at, by someone who has
// touched a key, the pointer or the wheel since it came. Opening a channel alone reads nothing.

import { compareIds } from "../../store/shapes.js";

const DELAY_MS = 500;

/**
 * @param {object} parts
 * @param {(id: string) => void} parts.acknowledge
 * @param {(id: string) => void} parts.markUnread
 * @param {() => boolean} [parts.isWatched]
 * @param {string | null} parts.last
 */
export function makeReader({ acknowledge, markUnread, isWatched = isPageWatched, last }) {
  const controller = new AbortController();
  let told = last ?? "0";
  /** @type {string | null} */
  let seen = null;
  let since = 0;
  let isTouched = false;
  let isBlocked = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /**
   * The newest row is in sight, or it is not any more.
   * @param {string | null} id
   */
  function show(id) {
    if (id === seen) return;
    if (id !== null && (seen === null || compareIds(id, seen) > 0)) isTouched = false;
    seen = id;
    since = performance.now();
    clearTimeout(timer);
  }

  function touch() {
    isTouched = true;
    if (seen === null || isBlocked || compareIds(seen, told) <= 0 || !isWatched()) return;
    clearTimeout(timer);
    timer = setTimeout(tell, DELAY_MS);
  }

  function tell() {
    if (seen === null || isBlocked || !isTouched || compareIds(seen, told) <= 0 || !isWatched()) return;
    told = seen;
    acknowledge(seen);
  }

  for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"]) {
    document.addEventListener(name, touch, { passive: true, signal: controller.signal });
  }

  return {
    show,
    /** From a message on all is unread again: nothing is acknowledged any more until the channel is left. */
    markUnread(/** @type {string} */ id) {
      isBlocked = true;
      clearTimeout(timer);
      markUnread(id);
    },
    /** The channel is left: what stood there long enough is read, although the last touch led away. */
    stop() {
      if (performance.now() - since >= DELAY_MS) tell();
      clearTimeout(timer);
      controller.abort();
    },
  };
}

/** Whether someone looks at the page. */
function isPageWatched() {
  return document.visibilityState === "visible" && document.hasFocus();
}
