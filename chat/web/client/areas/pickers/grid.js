// A grid of things to pick, in sections: one tab stop, arrows in all directions.

import { fill, h } from "../../base/dom.js";

/** @typedef {import("./emoji.js").Choice} Choice */
/** @typedef {import("./emoji.js").Section} Section */

const COLUMNS = 9;

/**
 * @param {object} parts
 * @param {(choice: Choice) => void} parts.pick
 * @param {(choice: Choice) => void} parts.look
 * @param {(choice: Choice, cell: Element) => void} [parts.menu] What else can be done with one.
 * @param {number} [parts.columns]
 */
export function makeGrid({ pick, look, menu, columns = COLUMNS }) {
  const element = h("div", { class: "picker-grid", role: "grid" });
  element.style.setProperty("--columns", `${columns}`);
  /** @type {Choice[]} */
  let choices = [];
  /** @type {HTMLElement[]} */
  let cells = [];

  /** @param {Section[]} sections */
  function show(sections) {
    choices = sections.flatMap((section) => section.choices);
    const parts = sections.map((section) => {
      const rows = [];
      for (let start = 0; start < section.choices.length; start += columns) {
        const cellsOfRow = section.choices.slice(start, start + columns).map(cell);
        rows.push(h("div", { role: "row", class: "picker-row" }, ...cellsOfRow));
      }
      return h(
        "div",
        { role: "rowgroup", "aria-label": section.name },
        h("p", { class: "picker-title meta" }, section.name),
        ...rows,
      );
    });
    fill(element, ...parts);
    cells = /** @type {HTMLElement[]} */ ([...element.querySelectorAll("[role=gridcell]")]);
    cells[0]?.setAttribute("tabindex", "0");
    element.scrollTop = 0;
  }

  /** @param {Choice} choice */
  function cell(choice) {
    const one = h("button", { type: "button", role: "gridcell", class: "picker-cell", tabindex: "-1" });
    one.setAttribute("aria-label", choice.label);
    one.title = choice.label;
    if (choice.picture === null) one.append(choice.text);
    else {
      const picture = h("img", { alt: "", loading: "lazy", width: "28", height: "28" });
      picture.src = choice.picture;
      one.append(picture);
    }
    return one;
  }

  /** @param {EventTarget | null} target */
  function choiceAt(target) {
    const one = /** @type {Element | null} */ (target)?.closest?.("[role=gridcell]");
    return one ? choices[cells.indexOf(/** @type {HTMLElement} */ (one))] : undefined;
  }

  /** @param {number} at */
  function focusAt(at) {
    const next = cells[at];
    if (!next) return;
    for (const one of element.querySelectorAll("[role=gridcell][tabindex='0']")) one.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  }

  element.addEventListener("click", (event) => {
    const choice = choiceAt(event.target);
    if (choice) pick(choice);
  });
  element.addEventListener("contextmenu", (event) => {
    const choice = choiceAt(event.target);
    if (!choice || !menu) return;
    event.preventDefault();
    menu(choice, /** @type {Element} */ (/** @type {Element} */ (event.target).closest("[role=gridcell]")));
  });
  element.addEventListener("pointerover", (event) => {
    const choice = choiceAt(event.target);
    if (choice) look(choice);
  });
  element.addEventListener("focusin", (event) => {
    const choice = choiceAt(event.target);
    if (choice) look(choice);
  });
  element.addEventListener("keydown", (event) => {
    const at = cells.indexOf(/** @type {HTMLElement} */ (event.target));
    const next = nextOf(event.key, at, cells, getComputedStyle(element).direction === "rtl");
    if (at === -1 || next === null) return;
    event.preventDefault();
    focusAt(next);
  });

  return {
    element,
    show,
    count: () => cells.length,
    focus: (at = 0) => focusAt(at),
    pickFirst: () => choices[0] && pick(choices[0]),
  };
}

/**
 * @param {string} key
 * @param {number} at
 * @param {HTMLElement[]} cells
 * @param {boolean} isRightToLeft
 * @returns {number | null}
 */
function nextOf(key, at, cells, isRightToLeft) {
  const forward = isRightToLeft ? "ArrowLeft" : "ArrowRight";
  const backward = isRightToLeft ? "ArrowRight" : "ArrowLeft";
  if (key === forward) return Math.min(at + 1, cells.length - 1);
  if (key === backward) return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  if (key === "End") return cells.length - 1;
  if (key !== "ArrowDown" && key !== "ArrowUp") return null;
  // A section's last row may be short, so find the cell that lies in the same column.
  const spot = cells[at]?.getBoundingClientRect();
  const way = key === "ArrowDown" ? 1 : -1;
  for (let next = at + way; spot && next >= 0 && next < cells.length; next += way) {
    const other = cells[next]?.getBoundingClientRect();
    if (other && other.top !== spot.top && Math.abs(other.left - spot.left) < spot.width / 2) return next;
  }
  return null;
}
