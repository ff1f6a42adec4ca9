// The focus is never lost: where what had it goes or is hidden, the nearest part of the page around it takes it. Keys
// and screen readers go on from there and not from the top.

const PARTS = "[data-region], [tabindex], dialog, [popover]";
const FIRST = "h1[tabindex], h2[tabindex], a[href], button, input, textarea, select";

/** @param {Element} part */
function isThere(part) {
  return part.isConnected && part.checkVisibility({ visibilityProperty: true }) && !part.closest("[inert]");
}

/** @param {HTMLElement} part */
function take(part) {
  part.focus({ preventScroll: true });
  if (document.activeElement !== part) {
    /** @type {HTMLElement | null} */ (part.querySelector(FIRST))?.focus({ preventScroll: true });
  }
  return document.activeElement !== document.body;
}

/** Begins with it, for the whole page and for good. */
export function keepFocus() {
  /** @type {HTMLElement[]} what had the focus last, and what is around it */
  let around = [];

  function settle() {
    const [last] = around;
    // Who presses a bare place leaves what is still there on purpose.
    if (last === undefined || document.activeElement !== document.body || isThere(last)) return;
    const parts = around.filter((part) => part.matches(PARTS));
    const regions = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-region]")]);
    around = [];
    for (const part of [...parts, ...regions]) if (isThere(part) && take(part)) return;
  }

  document.addEventListener("focusin", ({ target }) => {
    around = [];
    for (let at = /** @type {HTMLElement | null} */ (target); at && at !== document.body; at = at.parentElement) {
      around.push(at);
    }
  });
  // What is hidden loses it with an event, what is removed without.
  document.addEventListener("focusout", ({ relatedTarget }) => void (relatedTarget === null && queueMicrotask(settle)));
  new MutationObserver(settle).observe(document.body, { childList: true, subtree: true });
}
