// A finger that rests on something asks for its menu, as the right button does. Where the browser tells of that by
// itself nothing is added.

const HOLD_MS = 500;
const MOVED_PX = 10;

/** @param {HTMLElement} root */
export function holding(root) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {{x: number, y: number} | null} where the finger rests */
  let spot = null;
  let isTaken = false;
  const leave = () => (clearTimeout(timer), (spot = null));

  root.addEventListener(
    "touchstart",
    (event) => {
      leave();
      isTaken = false;
      const [finger, second] = event.touches;
      if (!finger || second) return;
      const { clientX, clientY, target } = finger;
      spot = { x: clientX, y: clientY };
      timer = setTimeout(() => {
        const asked = new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX, clientY });
        isTaken = !target.dispatchEvent(asked);
      }, HOLD_MS);
    },
    { passive: true },
  );
  root.addEventListener(
    "touchmove",
    (event) => {
      const [finger] = event.touches;
      if (spot && finger && Math.hypot(finger.clientX - spot.x, finger.clientY - spot.y) > MOVED_PX) leave();
    },
    { passive: true },
  );
  root.addEventListener("contextmenu", (event) => event.isTrusted && leave(), true);
  root.addEventListener("touchcancel", leave);
  // The finger that leaves presses nothing: what it rested on, or the menu that is there now.
  root.addEventListener("touchend", (event) => {
    leave();
    if (isTaken && event.cancelable) event.preventDefault();
  });
}
