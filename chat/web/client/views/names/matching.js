// How well a name fits what somebody has typed.

/**
 * Higher is better: the beginning of the name, then of a word, then letters in their order.
 * @param {string} name
 * @param {string} wanted In lower case.
 * @returns {number | null} null where a letter is missing
 */
export function scoreOf(name, wanted) {
  const text = name.toLowerCase();
  if (wanted === "") return 0;
  if (text === wanted) return 40;
  if (text.startsWith(wanted)) return 30;
  const at = text.indexOf(wanted);
  if (at > 0) return /[\s\-_.]/.test(text[at - 1] ?? "") ? 20 : 10;
  let from = 0;
  for (const letter of wanted.replace(/\s+/g, "")) {
    from = text.indexOf(letter, from) + 1;
    if (from === 0) return null;
  }
  return 0;
}
