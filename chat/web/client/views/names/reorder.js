// Putting the entries of a list in order: by dragging, and by keys (Space lifts and drops, arrows move, Escape undoes).

import { t } from "../../words/catalogue.js";

/**
 * @param {HTMLElement} list Its children that have `data-order` take part.
 * @param {object} parts
 * @param {(from: number, to: number) => void} parts.move
 * @param {(words: string) => void} parts.announce
 */
export function makeReorder(list, { move, announce }) {
  /** @type {HTMLElement | null} */
  let held = null;
  let start = -1;

  const entries = () =>
    /** @type {HTMLElement[]} */ (
      [...list.children].filter((one) => one instanceof HTMLElement && "order" in one.dataset)
    );
  /** @param {EventTarget | null} target */
  const entryOf = (target) => entries().find((one) => one.contains(/** @type {Node} */ (target))) ?? null;

  /** @param {HTMLElement} entry */
  function lift(entry) {
    held = entry;
    start = entries().indexOf(entry);
    entry.classList.add("held");
  }

  function drop() {
    if (held === null) return;
    const end = entries().indexOf(held);
    held.classList.remove("held");
    held = null;
    if (end !== start) move(start, end);
  }

  function undo() {
    if (held === null) return;
    const others = entries().filter((one) => one !== held);
    place(others[start] ?? null);
    held.classList.remove("held");
    held = null;
  }

  /** @param {HTMLElement | null} before */
  function place(before) {
    if (held === null) return;
    const focused = document.activeElement;
    if (before) list.insertBefore(held, before);
    else entries().at(-1)?.after(held);
    if (focused instanceof HTMLElement && held.contains(focused)) focused.focus();
  }

  list.addEventListener("keydown", (event) => {
    const entry = entryOf(event.target);
    if (!entry) return;
    if (event.key === " " && event.shiftKey) {
      event.preventDefault();
      if (held === null) {
        lift(entry);
        announce(t("reorder.lifted"));
      } else {
        drop();
        announce(t("reorder.dropped"));
      }
    } else if (held !== null && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      event.stopPropagation();
      const all = entries();
      const at = all.indexOf(held) + (event.key === "ArrowUp" ? -1 : 1);
      if (at < 0 || at >= all.length) return;
      place(event.key === "ArrowUp" ? (all[at] ?? null) : (all[at + 1] ?? null));
      announce(t("reorder.place", { n: at + 1, all: all.length }));
    } else if (held !== null && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      undo();
      announce(t("reorder.undone"));
    }
  });
  list.addEventListener("focusout", (event) => {
    if (held === null || held.contains(/** @type {Node | null} */ (event.relatedTarget))) return;
    // What is moved in the document may lose the focus for a moment.
    requestAnimationFrame(() => held?.contains(document.activeElement) || drop());
  });
  list.addEventListener("dragstart", (event) => {
    const entry = entryOf(event.target);
    if (entry) lift(entry);
  });
  list.addEventListener("dragover", (event) => {
    if (held === null) return;
    event.preventDefault();
    const over = entryOf(event.target);
    if (!over || over === held) return;
    const { top, height } = over.getBoundingClientRect();
    place(
      event.clientY < top + height / 2
        ? over
        : /** @type {HTMLElement | null} */ (entries()[entries().indexOf(over) + 1] ?? null),
    );
  });
  list.addEventListener("drop", (event) => (event.preventDefault(), drop()));
  list.addEventListener("dragend", undo);
  return { isHolding: () => held !== null };
}
