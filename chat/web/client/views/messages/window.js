// Which messages of a log are in the page: never more than 150, around what is read. Pure: ids and counts in, ids out.

import { compareIds } from "../../store/shapes.js";

/**
 * The mounted part of a log, by the ids of its ends. `end` says that it follows the newest message.
 * @typedef {{first: string, last: string, end: boolean}} Range
 */

/** @typedef {{above: number, seen: number, below: number}} Counts rows above, in and below what is seen */

/** @typedef {{above: number, below: number, viewport: number}} Reach pixels mounted above and below, and those seen */

const MOUNTED = 150;
const PAGE = 50;
const VIEWPORTS = 2;

/**
 * The first index whose id is not below `id`.
 * @param {readonly string[]} ids ascending
 * @param {string} id
 */
export function indexAt(ids, id) {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareIds(/** @type {string} */ (ids[middle]), id) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The range that a list opens with: about `id`, or the newest messages.
 * @param {readonly string[]} ids
 * @param {string | null} id
 * @param {boolean} isNewest whether the log reaches to the channel's newest message
 * @returns {Range}
 */
export function opened(ids, id, isNewest) {
  if (id === null) return between(ids, ids.length - PAGE, ids.length, isNewest);
  const at = indexAt(ids, id);
  return between(ids, at - PAGE / 2, at + PAGE / 2, isNewest);
}

/**
 * @param {readonly string[]} ids
 * @param {number} from
 * @param {number} to
 * @param {boolean} isNewest
 * @returns {Range}
 */
function between(ids, from, to, isNewest) {
  const start = Math.max(0, from);
  const stop = Math.min(ids.length, to);
  return { first: ids[start] ?? "0", last: ids[stop - 1] ?? "0", end: isNewest && stop === ids.length };
}

/**
 * Where a range lies in a log that may have changed since: [from, to).
 * @param {readonly string[]} ids
 * @param {Range} range
 * @returns {[number, number]}
 */
export function slice(ids, range) {
  const to = range.end ? ids.length : after(ids, range.last);
  return [Math.max(Math.min(indexAt(ids, range.first), to), to - MOUNTED), to];
}

/**
 * @param {readonly string[]} ids
 * @param {string} id
 */
function after(ids, id) {
  const at = indexAt(ids, id);
  return ids[at] === id ? at + 1 : at;
}

/**
 * A range that would be cut above, where it is read, as messages come at its end: it follows the end no more.
 * @param {readonly string[]} ids
 * @param {Range} range
 * @returns {Range}
 */
export function bounded(ids, range) {
  const last = ids[indexAt(ids, range.first) + MOUNTED - 1];
  return range.end && last !== undefined && last !== ids.at(-1) ? { first: range.first, last, end: false } : range;
}

/**
 * How many rows one step mounts: fewer where very many are seen at once, so that what is seen stays mounted.
 * @param {number} seen
 */
export function stepFor(seen) {
  return Math.max(1, Math.min(PAGE, Math.floor((MOUNTED - seen) / 3)));
}

/**
 * Where more rows are wanted: within two viewports of a mounted edge, while the room of 150 rows allows it. Only in the
 * direction in which the reader moves, or what was mounted at one end would be wanted again at the other.
 * @param {Counts} counts
 * @param {Reach} reach
 * @param {number} toward -1 up, 1 down, 0 at rest
 * @returns {"up" | "down" | null}
 */
export function wanted(counts, reach, toward) {
  const step = stepFor(counts.seen);
  const total = counts.above + counts.seen + counts.below;
  const isNear = (/** @type {number} */ pixels, /** @type {number} */ rows) =>
    pixels < VIEWPORTS * reach.viewport && rows + counts.seen + 2 * step <= MOUNTED;
  if (toward <= 0 && isNear(reach.above, counts.above) && (toward < 0 || total + step <= MOUNTED)) return "up";
  if (toward >= 0 && isNear(reach.below, counts.below) && (toward > 0 || total + step <= MOUNTED)) return "down";
  return null;
}

/**
 * A range with one step more at one end; what is too much goes at the other.
 * @param {readonly string[]} ids
 * @param {Range} range
 * @param {"up" | "down"} direction
 * @param {number} seen rows in sight
 * @param {boolean} isNewest
 * @returns {Range}
 */
export function grown(ids, range, direction, seen, isNewest) {
  const [from, to] = slice(ids, range);
  const step = stepFor(seen);
  if (direction === "up") {
    const start = Math.max(0, from - step);
    return between(ids, start, Math.min(to, start + MOUNTED), isNewest && to === ids.length);
  }
  const stop = Math.min(ids.length, to + step);
  return between(ids, Math.max(from, stop - MOUNTED), stop, isNewest);
}
