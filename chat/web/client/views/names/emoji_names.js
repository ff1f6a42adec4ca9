// The emoji of Unicode with their names, fetched when somebody first asks for one.

import { locale } from "../../words/catalogue.js";

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

async function fetched() {
  const answer = await fetch(`${document.body.dataset["client"]}/emoji/${locale() === "de" ? "de" : "en"}.json`);
  return answer.json();
}
