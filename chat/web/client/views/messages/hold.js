// Whether a finger or its momentum moves the list: what changes below the reader waits so long, or the movement ends.

const QUIET_MS = 120;

/**
 * @param {HTMLElement} scroller
 * @param {() => void} rest the movement is over
 */
export function makeHold(scroller, rest) {
  let isTouched = false;
  let isHeld = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function wait() {
    clearTimeout(timer);
    if (isHeld) timer = setTimeout(release, QUIET_MS);
  }

  function release() {
    if (!isHeld || isTouched) return;
    isHeld = false;
    rest();
  }

  function lifted() {
    isTouched = false;
    wait();
  }

  scroller.addEventListener("touchmove", () => ((isTouched = true), (isHeld = true)), { passive: true });
  scroller.addEventListener("touchend", lifted);
  scroller.addEventListener("touchcancel", lifted);
  scroller.addEventListener("scroll", wait, { passive: true });
  scroller.addEventListener("scrollend", release);
  return { isHeld: () => isHeld, end: () => (isHeld = false), stop: () => clearTimeout(timer) };
}
