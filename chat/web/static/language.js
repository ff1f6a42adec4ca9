// What the pages and the console say, in the language of the page. The English words stand where they are said, and are
// the key of the same words in another language (docs/contributing.md, Words).

import { compose, nodes, text } from "../client/words/catalogue.js";

/** @typedef {import("../client/words/catalogue.js").Entries} Entries */

/** @type {Entries} */
const known = {};

/** @param {Entries} entries */
export function learn(entries) {
  Object.assign(known, entries);
}

/** The language of numbers and dates; for English, the kind of it that the browser prefers. */
export function locale() {
  const { lang } = document.documentElement;
  return lang === "en" ? (navigator.languages.find((one) => one.startsWith("en")) ?? "en") : lang;
}

/**
 * @param {string} english
 * @param {Record<string, string | number>} [values]
 */
export function t(english, values = {}) {
  return text(compose(known[english] ?? english, values, locale()));
}

/**
 * The same as nodes, for values that are elements.
 * @param {string} english
 * @param {import("../client/words/catalogue.js").Values} [values]
 */
export function tn(english, values = {}) {
  return nodes(compose(known[english] ?? english, values, locale()));
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} other is the key.
 * @param {Record<string, string | number>} [values]
 */
export function plural(n, one, other, values = {}) {
  return text(compose(known[other] ?? { one, other }, { ...values, n }, locale()));
}

/**
 * A sentence of the server, which speaks English, as far as it is known here.
 * @param {string} sentence
 */
export function translated(sentence) {
  const entry = known[sentence];
  return typeof entry === "string" ? entry : sentence;
}
