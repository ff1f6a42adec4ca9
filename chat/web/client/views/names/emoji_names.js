// The emoji of Unicode with their names, fetched when somebody first asks for one.

import { locale } from "../../words/catalogue.js";
import { languageFor } from "../../words/languages.js";

/** @typedef {[emoji: string, label: string, name: string, words: string, tones?: string[]]} Row */

/** @type {Promise<Record<string, Row[]>> | null} */
let asked = null;

/**
 * By groups. What failed is asked for again the next time.
 * @returns {Promise<Record<string, Row[]>>}
 */
export function unicodeEmoji() {
  asked ??= fetched().catch((error) => {
    asked = null;
    throw error;
  });
  return asked;
}

/** The languages that have names for emoji; the others search in English. */
const NAMED = ["de"];

async function fetched() {
  const { tag } = languageFor([locale()]).language;
  const answer = await fetch(`${document.body.dataset["client"]}/emoji/${NAMED.includes(tag) ? tag : "en"}.json`);
  return answer.json();
}
