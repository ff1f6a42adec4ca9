// A list of any length of which only what is seen is in the document: rows of one height, put to use again as the list
// is scrolled. It follows its end until somebody scrolls up.

import { h } from "../client/base/dom.js";

const BEYOND = 6;
const NEAR_END = 4;

/**
 * @template Item
 * @typedef {{element: HTMLElement, item: Item | null}} Row
 */
/**
 * @template Item
 * @typedef {object} Options
 * @property {string} label Names the list.
 * @property {number} rowHeight
 * @property {(row: HTMLElement, item: Item) => void} draw Fills a row.
 * @property {(item: Item | null) => void} choose Hears what is selected.
 */

/** @template Item */
export class WindowedList {
  /**
   * @param {HTMLElement} box
   * @param {Options<Item>} options
   */
  constructor(box, { label, rowHeight, draw, choose }) {
    /** @type {readonly Item[]} */
    this.items = [];
    /** @type {Item | null} */
    this.selected = null;
    this.follows = true;
    this.rowHeight = rowHeight;
    this.draw = draw;
    this.choose = choose;
    /** @type {Row<Item>[]} */
    this.rows = [];
    this.wanted = false;
    this.space = h("div", { class: "rows-space", role: "presentation" });
    this.box = box;
    box.setAttribute("role", "listbox");
    box.setAttribute("aria-label", label);
    box.tabIndex = 0;
    box.append(this.space);
    box.addEventListener("scroll", () => this.scrolled());
    box.addEventListener("keydown", (event) => this.pressed(event));
    box.addEventListener("click", (event) => this.clicked(event));
    new ResizeObserver(() => this.show()).observe(box);
  }

  /** @param {readonly Item[]} items */
  put(items) {
    this.items = items;
    this.show();
  }

  // Draws with the next frame of the screen, however often it is asked for.
  show() {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      this.drawRows();
    });
  }

  drawRows() {
    const { box, items, rowHeight } = this;
    const height = `${items.length * rowHeight}px`;
    if (this.space.style.height !== height) this.space.style.height = height;
    if (this.follows) box.scrollTop = items.length * rowHeight;
    const seen = Math.ceil(box.clientHeight / rowHeight) + 2 * BEYOND;
    const first = Math.max(0, Math.min(Math.floor(box.scrollTop / rowHeight) - BEYOND, items.length - seen));
    const last = Math.min(items.length, first + seen);
    while (this.rows.length < last - first) {
      const element = h("div", { class: "entry", role: "option", id: `${box.id}-${this.rows.length}` });
      this.rows.push({ element, item: null });
      this.space.append(element);
    }
    /** @type {string | null} */
    let active = null;
    this.rows.forEach((known, place) => {
      const { element: row } = known;
      const position = first + place;
      const item = items[position];
      row.hidden = position >= last || item === undefined;
      if (item === undefined || position >= last) return;
      row.style.transform = `translateY(${position * rowHeight}px)`;
      row.setAttribute("aria-setsize", String(items.length));
      row.setAttribute("aria-posinset", String(position + 1));
      row.setAttribute("aria-selected", String(item === this.selected));
      if (item === this.selected) active = row.id;
      if (known.item !== item) {
        known.item = item;
        this.draw(row, item);
      }
    });
    if (active === null) box.removeAttribute("aria-activedescendant");
    else box.setAttribute("aria-activedescendant", active);
  }

  scrolled() {
    const left = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight;
    this.follows = left < NEAR_END * this.rowHeight && this.selected === null;
    this.show();
  }

  /** @param {Item | null} item */
  select(item) {
    this.selected = item;
    this.follows = item === null;
    this.choose(item);
    this.show();
  }

  /** @param {MouseEvent} event */
  clicked({ target }) {
    const row = this.rows.find(({ element }) => target instanceof Node && element.contains(target));
    if (row) this.select(row.item);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.rowHeight) - 1);
    /** @type {Record<string, number>} */
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    if (event.key === "Escape") this.select(null);
    const step = steps[event.key];
    if (step === undefined || this.items.length === 0) return;
    event.preventDefault();
    const from = this.selected === null ? this.items.length : this.items.indexOf(this.selected);
    const to = Math.max(0, Math.min(this.items.length - 1, from + step));
    this.select(this.items[to] ?? null);
    this.reveal(to);
  }

  /** @param {number} position */
  reveal(position) {
    const top = position * this.rowHeight;
    const { box } = this;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + this.rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + this.rowHeight - box.clientHeight;
  }
}
