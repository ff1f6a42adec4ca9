// The languages of the client: a catalogue `<tag>.json` beside this module for each. A catalogue that no speaker has
// read yet says so where a language is chosen; what it lacks is said in English (chat/web/assets.py).

/**
 * @typedef {object} Language
 * @property {string} tag Of its catalogue, and the locale of its dates and numbers where the browser names no other.
 * @property {string} name In the language itself.
 * @property {boolean} isReviewed Whether somebody who speaks it has read the catalogue.
 */

/** @type {readonly Language[]} */
export const LANGUAGES = [
  { tag: "en", name: "English", isReviewed: true },
  { tag: "ar", name: "العربية", isReviewed: false },
  { tag: "de", name: "Deutsch", isReviewed: true },
  { tag: "es", name: "Español", isReviewed: false },
  { tag: "fr", name: "Français", isReviewed: false },
  { tag: "it", name: "Italiano", isReviewed: false },
  { tag: "ja", name: "日本語", isReviewed: false },
  { tag: "ko", name: "한국어", isReviewed: false },
  { tag: "nl", name: "Nederlands", isReviewed: false },
  { tag: "pl", name: "Polski", isReviewed: false },
  { tag: "pt-BR", name: "Português (Brasil)", isReviewed: false },
  { tag: "ru", name: "Русский", isReviewed: false },
  { tag: "tr", name: "Türkçe", isReviewed: false },
  { tag: "zh-CN", name: "简体中文", isReviewed: false },
];

const ENGLISH = /** @type {Language} */ (LANGUAGES[0]);
/** Languages that are written from right to left. */
const RIGHT_TO_LEFT = ["ar"];

/**
 * What a person reads, by what they would like to: the first wish that is spoken here. The locale keeps the region of
 * the wish (`en-GB`, `de-AT`, `pt-PT`), which decides how dates and numbers are written.
 * @param {readonly string[]} wishes Language tags (BCP 47), the dearest first.
 * @returns {{language: Language, locale: string}}
 */
export function languageFor(wishes) {
  for (const wish of wishes) {
    const locale = canonical(wish);
    const language = locale && LANGUAGES.find((one) => isSpokenBy(one.tag, locale));
    if (language) return { language, locale: locale.toString() };
  }
  return { language: ENGLISH, locale: ENGLISH.tag };
}

/**
 * Which way a language is written.
 * @param {string} tag
 * @returns {"ltr" | "rtl"}
 */
export function directionOf(tag) {
  return RIGHT_TO_LEFT.includes(tag) ? "rtl" : "ltr";
}

/** @param {string} wish */
function canonical(wish) {
  try {
    return new Intl.Locale(wish);
  } catch {
    return null; // what a browser or an account keeps need not be a tag
  }
}

/**
 * Whether who asks for a locale can read this catalogue: the language, and the script where a language has several.
 * @param {string} tag
 * @param {Intl.Locale} locale
 */
function isSpokenBy(tag, locale) {
  const [own, other] = [new Intl.Locale(tag).maximize(), locale.maximize()];
  return own.language === other.language && own.script === other.script;
}
