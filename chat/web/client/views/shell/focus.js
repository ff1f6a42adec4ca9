// The focus is never lost. Where what had it is drawn again, the new one takes it; in a list, what stands in its place;
// else the nearest part of the page around it. Keys and screen readers go on from there and not from the top.

const PARTS = "[data-region], [tabindex], main, dialog, [popover]";
const LAYERS = "dialog, [popover]";
const CONTROLS = "a[href], button, input, textarea, select";
const FIRST = `h1[tabindex], h2[tabindex], ${CONTROLS}`;

/** @param {Element} part */
function isThere(part) {
  return part.isConnected && part.checkVisibility({ visibilityProperty: true }) && !part.closest("[inert]");
}

/** @param {HTMLElement} part */
function take(part) {
  part.focus({ preventScroll: true });
  if (document.activeElement !== part) {
    const all = /** @type {HTMLElement[]} */ ([...part.querySelectorAll(FIRST)]);
    // The first may be hidden here: a way back on narrow windows.
    all.find((one) => isThere(one) && !one.matches(":disabled"))?.focus({ preventScroll: true });
  }
  return document.activeElement !== document.body;
}

/** @param {Element} part @returns {HTMLElement[]} */
function controlsOf(part) {
  const all = /** @type {HTMLElement[]} */ ([...part.querySelectorAll(CONTROLS)]);
  return all.filter((one) => isThere(one) && !one.matches(":disabled"));
}

/** What a control is, and of whom: each row of a list may have one of that name. @param {HTMLElement} control */
function nameOf(control) {
  const label = control instanceof HTMLInputElement ? control.closest("label")?.textContent : control.textContent;
  const row = control.closest("li")?.querySelector("bdi")?.textContent;
  return control.dataset["key"] ?? JSON.stringify([control.tagName, control.id, control.ariaLabel ?? label, row]);
}

/**
 * The control that took the place of one that is gone.
 * @param {Element[]} around It, and what was around it.
 * @param {number[]} places Of each among its neighbours.
 */
function successor(around, places) {
  const [last] = around;
  const at = around.findIndex((part) => part.isConnected);
  const ground = around[at];
  if (at < 1 || !ground || !(last instanceof HTMLElement) || !last.matches(CONTROLS)) return undefined;
  const name = nameOf(last);
  const row = ground.children[Math.min(places[at - 1] ?? 0, ground.children.length - 1)];
  const controls = controlsOf(ground).filter((one) => nameOf(one) === name);
  return controls.find((one) => row?.contains(one)) ?? controls[0] ?? (row?.matches("li") && controlsOf(row)[0]);
}

/** Begins with it, for the whole page and for good. */
export function keepFocus() {
  /** @type {HTMLElement[]} what had the focus last, and what is around it */
  let around = [];
  /** @type {number[]} */
  let places = [];

  function settle() {
    const [last] = around;
    // Who presses a bare place leaves what is still there on purpose.
    if (last === undefined || document.activeElement !== document.body || isThere(last)) return;
    const next = successor(around, places);
    if (next) return next.focus({ preventScroll: true });
    const parts = around.filter((part) => part.matches(PARTS));
    const regions = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-region]")]);
    // Where nothing can take it now, the next change of the page tries again.
    for (const part of [...parts, ...regions]) if (isThere(part) && take(part)) return;
  }

  document.addEventListener("focusin", ({ target }) => {
    const before = { around, places };
    around = [];
    for (let at = /** @type {HTMLElement | null} */ (target); at && at !== document.body; at = at.parentElement) {
      around.push(at);
    }
    places = around.map((part) => [...(part.parentElement?.children ?? [])].indexOf(part));
    // Around a dialog is what had the focus when it opened: both may be gone when it closes.
    const layer = around.at(-1);
    if (!layer?.matches(LAYERS)) return;
    const from = before.around.indexOf(layer) + 1;
    around.push(...before.around.slice(from));
    places.push(...before.places.slice(from));
  });
  // What is hidden loses it with an event, what is removed without.
  document.addEventListener("focusout", ({ relatedTarget }) => void (relatedTarget === null && queueMicrotask(settle)));
  new MutationObserver(settle).observe(document.body, { childList: true, subtree: true });
}
