// Every write of the scroll offset. The scroller runs from its end (column-reverse), so what grows above the reader
// moves nothing; what changes below is made up for here, in the same task, by a row whose place is noted before.

const BELOW_THE_TOP = 150;
const AT_END = 48;
const NOTED = 12;

/**
 * @param {HTMLElement} scroller
 * @param {HTMLElement} rows its list
 */
export function makeKeeper(scroller, rows) {
  /** @type {[Element, number][]} */
  let noted = [];
  /** @type {Element | null} */
  let target = null;
  /** A jump holds the offset, however late things around its target grow. */
  let isPlacing = false;
  let written = 0;
  let offset = 0;

  const observer = new ResizeObserver(resized);

  function isAtEnd() {
    return -scroller.scrollTop <= AT_END;
  }

  /** @param {Element} row */
  function y(row) {
    return row.getBoundingClientRect().top;
  }

  /**
   * How many rows end at or above a line.
   * @param {number} edge
   */
  function rowsAbove(edge) {
    let low = 0;
    let high = rows.children.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (/** @type {Element} */ (rows.children[middle]).getBoundingClientRect().bottom <= edge) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Notes where the rows around the anchor stand: should the first one go, the next one in line holds. */
  function note() {
    const index = Math.min(rowsAbove(y(scroller) + BELOW_THE_TOP), rows.children.length - 1);
    /** @type {Element[]} */
    const chosen = target !== null && rows.contains(target) ? [target] : [];
    for (let step = 0; step < NOTED; step += 1) chosen.push(...[rows.children[index + step]].filter((row) => !!row));
    for (let step = 1; step < NOTED; step += 1) chosen.push(...[rows.children[index - step]].filter((row) => !!row));
    noted = chosen.map((row) => [row, y(row)]);
  }

  /** Moves the offset so that the first noted row that is left stands where it stood. */
  function settle() {
    const held = noted.find(([row]) => row.parentNode === rows);
    const moved = held === undefined ? 0 : y(held[0]) - held[1];
    if (Math.abs(moved) >= 0.5) write(scroller.scrollTop + moved);
    note();
  }

  /** @param {number} offset */
  function write(offset) {
    const before = scroller.scrollTop;
    scroller.scrollTop = offset;
    written += scroller.scrollTop - before;
  }

  /** How much is mounted above and below what is seen. */
  function measure() {
    const top = y(scroller);
    const bottom = top + scroller.clientHeight;
    const above = rowsAbove(top);
    const seen = Math.min(rows.children.length, rowsAbove(bottom) + 1) - above;
    const bounds = rows.getBoundingClientRect();
    return {
      counts: { above, seen, below: rows.children.length - above - seen },
      reach: { above: top - bounds.top, below: bounds.bottom - bottom, viewport: scroller.clientHeight },
    };
  }

  /** A row came to another height. At the end nothing is made up for: the newest line stays in sight. */
  function resized() {
    if (isAtEnd() && !isPlacing) note();
    else settle();
  }

  /**
   * Runs what changes rows, and leaves the reader's row where it is.
   * @param {() => void} change
   */
  function keep(change) {
    note();
    change();
    settle();
  }

  /** Which way the reader went since the last asking: -1 up, 1 down, 0 if only a write here moved the offset. */
  function travelled() {
    const change = scroller.scrollTop - offset - written;
    offset = scroller.scrollTop;
    written = 0;
    return Math.sign(change);
  }

  /**
   * Puts a row at a share of the viewport's height from the top and holds it there until the reader moves.
   * @param {HTMLElement} row
   * @param {number} share
   */
  function place(row, share) {
    // Out of sight a row has a guessed height; placed by that it would stand beside its place.
    row.style.setProperty("content-visibility", "visible");
    const bounds = row.getBoundingClientRect();
    const room = Math.max(0, scroller.clientHeight - bounds.height);
    write(scroller.scrollTop + bounds.top - y(scroller) - room * share);
    target = row;
    isPlacing = true;
    note();
  }

  function toEnd() {
    release();
    write(0);
    note();
  }

  /** The reader moves: nothing is held in place any more. */
  function release() {
    isPlacing = false;
    target = null;
  }

  for (const name of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    scroller.addEventListener(name, release, { passive: true });
  }
  scroller.addEventListener("scroll", note, { passive: true });

  return {
    keep,
    place,
    toEnd,
    isAtEnd,
    measure,
    travelled,
    isPlacing: () => isPlacing,
    /** @param {Element} row */
    watch: (row) => observer.observe(row),
    /** @param {Element} row */
    unwatch: (row) => observer.unobserve(row),
    stop: () => observer.disconnect(),
  };
}

/** @typedef {ReturnType<typeof makeKeeper>} Keeper */
