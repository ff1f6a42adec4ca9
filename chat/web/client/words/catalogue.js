// What people read, in their language: entries by key, with a place for each value, and plural forms where a number
// decides. A value is set apart from the writing direction around it.

/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Entry */
/** @typedef {Readonly<Record<string, Entry>>} Entries */
/** @typedef {Record<string, string | number | Node>} Values */

/** @type {{entries: Entries, locale: string}} */
const spoken = { entries: {}, locale: "en" };

/**
 * Speak a language from now on.
 * @param {Entries} entries
 * @param {string} locale
 */
export function useCatalogue(entries, locale) {
  spoken.entries = entries;
  spoken.locale = locale;
}

/** The language that is spoken. */
export function locale() {
  return spoken.locale;
}

/**
 * Words as plain text, for attributes and titles.
 * @param {string} key
 * @param {Record<string, string | number>} [values] `n` decides between plural forms.
 */
export function t(key, values = {}) {
  return text(compose(entryOf(key), values, spoken.locale));
}

/**
 * Words as nodes: each value, text or element, in a `<bdi>` of its own.
 * @param {string} key
 * @param {Values} [values]
 * @returns {Node[]}
 */
export function tn(key, values = {}) {
  return nodes(compose(entryOf(key), values, spoken.locale));
}

/**
 * The parts of an entry: its own words, and the values between them.
 * @template Value
 * @param {Entry} entry
 * @param {Record<string, Value>} values
 * @param {string} locale
 * @returns {(string | {value: Value | string})[]}
 * @throws {Error} for a place without a value.
 */
export function compose(entry, values, locale) {
  const n = Number(values["n"] ?? 0);
  // Where whole numbers never are "other", translators' tools leave it out.
  const form = rulesOf(locale).select(n);
  const words = typeof entry === "string" ? entry : (entry[form] ?? entry.other ?? entry.many ?? "");
  /** @type {(string | {value: Value | string})[]} */
  const parts = [];
  for (const part of words.split(/(\{\w+\})/).filter((some) => some !== "")) {
    const value = part.startsWith("{") ? values[part.slice(1, -1)] : part;
    if (value === undefined) throw new Error(`nothing for ${part}`);
    if (value === part) parts.push(part);
    else parts.push({ value: typeof value === "number" ? new Intl.NumberFormat(locale).format(value) : value });
  }
  return parts;
}

/** @param {(string | {value: unknown})[]} parts */
export function text(parts) {
  return parts.map((part) => (typeof part === "string" ? part : `${part.value}`)).join("");
}

/**
 * @param {(string | {value: unknown})[]} parts
 * @returns {Node[]}
 */
export function nodes(parts) {
  return parts.map((part) => {
    if (typeof part === "string") return document.createTextNode(part);
    const apart = document.createElement("bdi");
    apart.append(part.value instanceof Node ? part.value : `${part.value}`);
    return apart;
  });
}

/** @param {string} key */
function entryOf(key) {
  const entry = spoken.entries[key];
  if (entry === undefined) throw new Error(`no words for ${key}`);
  return entry;
}

/** @type {Map<string, Intl.PluralRules>} */
const RULES = new Map();

/** @param {string} locale */
function rulesOf(locale) {
  const rules = RULES.get(locale) ?? new Intl.PluralRules(locale);
  RULES.set(locale, rules);
  return rules;
}
