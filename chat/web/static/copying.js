// A text goes into the clipboard, where the browser lets it.

import { t } from "./language.js";

/**
 * @param {string} text
 * @param {string} [done] what is told when it is there
 * @returns {Promise<[words: string, kind: "good" | "bad"]>} what to tell
 */
export async function copied(text, done = t("Copied.")) {
  try {
    await navigator.clipboard.writeText(text);
    return [done, "good"];
  } catch {
    return [t("The browser did not allow it: select the text and copy it."), "bad"];
  }
}
