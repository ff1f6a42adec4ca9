// The emoji of Unicode with their names, fetched when somebody first asks for one.

import { ApiError } from "../../../static/api.js";
import { locale } from "../../words/catalogue.js";
import { languageFor } from "../../words/languages.js";

/** @typedef {[emoji: string, label: string, name: string, words: string, tones?: string[]]} Row */

/** @type {Promise<Record<string, Row[]>> | null} */
let asked = null;

/**
 * By groups. What failed is asked for again the next time; that there was no answer is an ApiError.
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
  const address = `${document.body.dataset["client"]}/emoji/${NAMED.includes(tag) ? tag : "en"}.json`;
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok) throw new ApiError(answer?.status ?? 0, "NO_ANSWER", "There are no names of emoji.");
  return answer.json();
}
