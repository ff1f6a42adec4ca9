// What is typed while a part of the page is loaded belongs to that part, and not to what had the focus before: letters
// after Ctrl K are no message, and letters after "+" on a row are no keys of the row.

const OTHERS = new Set(["Enter", "Backspace", "ArrowUp", "ArrowDown"]);

/** @param {KeyboardEvent} event */
function isHeld(event) {
  if (event.isComposing || event.getModifierState("AltGraph")) return event.key.length === 1 && !event.isComposing;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  return event.key.length === 1 || OTHERS.has(event.key);
}

/** To what has the focus now. @param {KeyboardEvent} event */
function give({ key, code, shiftKey }) {
  const copy = new KeyboardEvent("keydown", { key, code, shiftKey, bubbles: true, cancelable: true });
  if (!(document.activeElement ?? document.body).dispatchEvent(copy)) return;
  // The one way to write that a field can undo; where no field has the focus it does nothing.
  if (key === "Backspace") document.execCommand("delete");
  else if (key.length === 1) document.execCommand("insertText", false, key);
}

/** @returns {() => void} gives what was held to what has the focus by then */
export function holdKeys() {
  /** @type {KeyboardEvent[]} */
  const held = [];
  /** @param {KeyboardEvent} event */
  function hold(event) {
    if (!isHeld(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    held.push(event);
  }
  addEventListener("keydown", hold, true);
  return () => {
    removeEventListener("keydown", hold, true);
    for (const event of held) give(event);
  };
}
