// Push to talk: the microphone is on while a key is held, if the person has chosen that.

import { keptDevices, watchDevices } from "../../base/devices.js";

const TEXT = "input:not([type=checkbox], [type=radio], [type=range]), textarea, [contenteditable]";

/** @param {(only: boolean, held: boolean) => void} tell Whether a key is wanted, and whether it is held. */
export function holdToTalk(tell) {
  let { byKey, key } = keptDevices();
  let isHeld = false;

  /** @param {boolean} held */
  function hold(held) {
    if (!byKey || held === isHeld) return;
    isHeld = held;
    tell(byKey, isHeld);
  }

  /** Who writes a text writes a text. @param {KeyboardEvent} event */
  const isText = ({ target, key: sign }) =>
    sign.length === 1 && target instanceof HTMLElement && target.matches(TEXT);

  document.addEventListener("keydown", (event) => {
    if (event.code === key && !event.repeat && !isText(event)) hold(true);
  });
  document.addEventListener("keyup", (event) => event.code === key && hold(false));
  // A key that is let go in another window is not heard here.
  window.addEventListener("blur", () => hold(false));
  watchDevices(() => {
    ({ byKey, key } = keptDevices());
    isHeld = false;
    tell(byKey, false);
  });
  tell(byKey, false);
}
