// The rows in the page, by the keys of their items.

import { keyed } from "../../base/keyed.js";
import { makeRow } from "./row.js";

/** @typedef {import("./row.js").Item} Item */

/**
 * @param {HTMLElement} rows
 * @param {import("../names/people.js").Place} place
 * @param {import("./keeper.js").Keeper} keeper
 */
export function makeDrawn(rows, place, keeper) {
  /** @type {WeakMap<Element, ReturnType<typeof makeRow>>} */
  const made = new WeakMap();

  /** @param {Item} item */
  function make(item) {
    const row = makeRow(place);
    made.set(row.element, row);
    row.show(item);
    keeper.watch(row.element);
    return row.element;
  }

  return {
    /**
     * Draws the items; gives where the focus was if its row went.
     * @param {readonly Item[]} items
     * @returns {number | null}
     */
    show(items) {
      const focused = document.activeElement?.closest(".slot") ?? null;
      const at = focused === null ? -1 : [...rows.children].indexOf(focused);
      keyed(
        rows,
        items,
        (item) => item.key,
        make,
        (row, item) => made.get(row)?.show(item),
      );
      return at >= 0 && !rows.contains(focused) ? at : null;
    },
  };
}
