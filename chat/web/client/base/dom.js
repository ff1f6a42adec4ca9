// Elements out of tags, attributes and children: text from outside only becomes text nodes and attribute values. The
// client, the pages and the console all make theirs here.

/** @typedef {Node | string | number | null | undefined} Leaf */
/** @typedef {Leaf | Children} Child Lists may lie in lists. */
/** @typedef {{readonly [index: number]: Child, readonly length: number, flat: Function}} Children Any array of them. */
/** @typedef {{of(event: Event): void}["of"]} Listener It may take the kind of event that it listens to. */
/** @typedef {string | number | boolean | null | undefined | Listener} Attribute */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, Attribute>} [attributes] A function listens to the event of that name; `true` sets an
 *   attribute empty; `false`, null and undefined leave it out.
 * @param {...Child} children null and undefined are left out.
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, `${value}`);
  }
  element.append(...nodes(children));
  return element;
}

/**
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
}

/** @param {readonly Child[]} children */
function nodes(children) {
  // The document writes numbers as text by itself, and the compiler does not know how deep the lists lie.
  const leaves = /** @type {Leaf[]} */ (children.flat(Infinity));
  return /** @type {(Node | string)[]} */ (leaves.filter((leaf) => leaf !== null && leaf !== undefined));
}
