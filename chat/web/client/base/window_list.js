// A list of rows of one height, of which those in sight are mounted. Its style says how high a row is: a row stands at
// `--at` row heights from the list's beginning, the list is `--count` of them high.

/** Rows mounted beyond what is in sight, at either end. */
const BEYOND = 8;

/**
 * @param {object} parts
 * @param {HTMLElement} parts.scroller
 * @param {HTMLElement} parts.ground The list itself, within the scroller.
 * @param {() => HTMLElement} parts.make An empty row.
 * @param {(row: HTMLElement, index: number) => void} parts.draw Fills a row; called again whenever it
 *   may have changed.
 * @param {(first: number, last: number) => void} parts.looked Which rows are in sight.
 */
export function makeWindowList({ scroller, ground, make, draw, looked }) {
  /** @type {Map<number, HTMLElement>} */
  const mounted = new Map();
  let count = 0;
  let height = 0;

  function inSight() {
    const above = scroller.getBoundingClientRect().top - ground.getBoundingClientRect().top;
    const first = Math.floor(above / height);
    const last = Math.ceil((above + scroller.clientHeight) / height) - 1;
    return [Math.max(0, Math.min(first, count - 1)), Math.max(0, Math.min(last, count - 1))];
  }

  /** The row that has the focus stays: a person who comes back finds it. */
  function focused() {
    for (const [index, row] of mounted) {
      if (row.contains(document.activeElement)) return index;
    }
    return null;
  }

  function settle() {
    if (count === 0 || height === 0) return trim(1, 0);
    const [first = 0, last = 0] = inSight();
    const from = Math.max(0, first - BEYOND);
    const to = Math.min(count - 1, last + BEYOND);
    trim(from, to);
    for (let index = from; index <= to; index += 1) mount(index);
    looked(first, last);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  function trim(from, to) {
    const held = focused();
    for (const [index, row] of mounted) {
      if ((index >= from && index <= to) || (index === held && index < count)) continue;
      row.remove();
      mounted.delete(index);
    }
  }

  /** @param {number} index */
  function mount(index) {
    const row = mounted.get(index) ?? make();
    if (!mounted.has(index)) {
      mounted.set(index, row);
      row.style.setProperty("--at", String(index));
      // Reading order is the order of the rows, whichever came first.
      const next = [...mounted.keys()].reduce((best, at) => (at > index && at < best ? at : best), Infinity);
      ground.insertBefore(row, mounted.get(next) ?? null);
    }
    row.setAttribute("aria-posinset", String(index + 1));
    row.setAttribute("aria-setsize", String(count));
    draw(row, index);
  }

  function measure() {
    height = count === 0 ? 0 : ground.getBoundingClientRect().height / count;
    settle();
  }

  const observer = new ResizeObserver(measure);
  observer.observe(scroller);
  scroller.addEventListener("scroll", settle, { passive: true });

  return {
    /** @param {number} next How many rows there are now. */
    show(next) {
      count = next;
      ground.style.setProperty("--count", String(count));
      measure();
    },
    /** @param {number} index @returns {HTMLElement | undefined} the row, scrolled into sight */
    reveal(index) {
      const spot = index * height + ground.offsetTop;
      const end = spot + height - scroller.clientHeight;
      if (scroller.scrollTop > spot) scroller.scrollTop = spot;
      else if (scroller.scrollTop < end) scroller.scrollTop = end;
      settle();
      return mounted.get(index);
    },
    /** @param {Element | null} inside @returns {number | null} */
    indexOf(inside) {
      for (const [index, row] of mounted) if (row.contains(inside)) return index;
      return null;
    },
    stop() {
      observer.disconnect();
      scroller.removeEventListener("scroll", settle);
    },
  };
}
