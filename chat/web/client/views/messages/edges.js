// What stands beyond the mounted rows: a skeleton while there is more, a failure with its button, or the beginning.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";

/** @typedef {"up" | "down"} Direction */

/**
 * @param {(direction: Direction) => Promise<unknown>} load one page more; it throws if that fails
 * @param {(direction: Direction) => void} after
 * @param {() => Node[]} beginning What stands above the first message.
 */
export function makeEdges(load, after, beginning) {
  const elements = { up: h("div", { class: "beyond" }), down: h("div", { class: "beyond" }) };
  const busy = { up: false, down: false };
  const failed = { up: false, down: false };

  /**
   * One request a direction; after a failure only the button asks again.
   * @param {Direction} direction
   */
  async function fetch(direction) {
    if (busy[direction]) return;
    busy[direction] = true;
    failed[direction] = false;
    try {
      await load(direction);
    } catch {
      failed[direction] = true;
    }
    busy[direction] = false;
    after(direction);
  }

  /**
   * @param {Direction} direction
   * @param {boolean} isMore
   */
  function show(direction, isMore) {
    const ground = elements[direction];
    const state = failed[direction] ? "failed" : isMore ? "more" : "none";
    if (ground.dataset["state"] === state) return;
    ground.dataset["state"] = state;
    if (state === "none") return fill(ground, ...(direction === "up" ? beginning() : []));
    if (state !== "failed") return fill(ground);
    const again = h("button", { type: "button", class: "button" }, t("list.retry"));
    again.addEventListener("click", () => void fetch(direction));
    fill(ground, h("p", {}, t("list.failed")), again);
  }

  return { elements, fetch, show, isFailed: (/** @type {Direction} */ direction) => failed[direction] };
}
