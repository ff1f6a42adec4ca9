// Rows of a list by their keys: a row that stays is moved only if its neighbour is another one.

/**
 * @template Item
 * @param {Element} parent
 * @param {readonly Item[]} items
 * @param {(item: Item) => string} keyOf
 * @param {(item: Item) => Element} make
 * @param {(element: Element, item: Item) => void} update
 */
export function keyed(parent, items, keyOf, make, update) {
  const elements = elementsOf(parent);
  const wanted = new Set(items.map(keyOf));
  for (const [key, element] of elements) {
    if (wanted.has(key)) continue;
    element.remove();
    elements.delete(key);
  }
  /** @type {Element | null} */
  let next = null;
  for (const item of items.toReversed()) {
    const key = keyOf(item);
    const known = elements.get(key);
    const element = known ?? make(item);
    if (known) update(known, item);
    else elements.set(key, element);
    if (element.parentNode !== parent || element.nextElementSibling !== next) place(parent, element, next);
    next = element;
  }
}

/** @type {WeakMap<Element, Map<string, Element>>} */
const KNOWN = new WeakMap();

/** @param {Element} parent */
function elementsOf(parent) {
  const known = KNOWN.get(parent) ?? new Map();
  KNOWN.set(parent, known);
  return known;
}

/**
 * @param {Element & {moveBefore?: (node: Element, next: Element | null) => void}} parent
 * @param {Element} element
 * @param {Element | null} next
 */
function place(parent, element, next) {
  if (parent.moveBefore && element.parentNode === parent) parent.moveBefore(element, next);
  else parent.insertBefore(element, next);
}
