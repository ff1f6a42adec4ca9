// On a telephone one pane is seen: a finger that goes sideways brings the next one.

/** @typedef {"list" | "talk" | "members"} Pane */

/** @type {readonly Pane[]} */
const ORDER = ["list", "talk", "members"];
const DISTANCE_PX = 64;

/**
 * @param {HTMLElement} element `data-pane` says which pane is seen
 * @param {(pane: Pane) => void} show
 */
export function swiping(element, show) {
  /** @type {Touch | null} */
  let first = null;
  element.addEventListener(
    "touchstart",
    (event) => {
      const target = /** @type {Element} */ (event.target);
      // What scrolls sideways by itself keeps the finger.
      first =
        event.touches.length === 1 && !target.closest("pre, video, audio, input[type=range]")
          ? (event.touches[0] ?? null)
          : null;
    },
    { passive: true },
  );
  element.addEventListener(
    "touchend",
    (event) => {
      const last = event.changedTouches[0];
      if (!first || !last) return;
      const across = last.clientX - first.clientX;
      const isSideways =
        Math.abs(across) > DISTANCE_PX && Math.abs(across) > 2 * Math.abs(last.clientY - first.clientY);
      first = null;
      if (!isSideways) return;
      const forward = (getComputedStyle(element).direction === "rtl") === across > 0 ? 1 : -1;
      const at = ORDER.indexOf(/** @type {Pane} */ (element.dataset["pane"]));
      const next = ORDER[at + forward];
      if (next) show(next);
    },
    { passive: true },
  );
}
