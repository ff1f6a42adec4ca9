// A page in the language that somebody chose, in the client or for the account, where that is another one than the
// browser's.

const KEY = "language";
const NAME = "lang";

/**
 * The same page in that language, if pages speak it and the address names none yet.
 * @param {string | null | undefined} chosen A language, or a locale with its region.
 * @returns {boolean} whether this page is left
 */
export function turnTo(chosen) {
  const language = chosen?.split("-")[0]?.toLowerCase() ?? "";
  const address = new URL(location.href);
  const isSpoken = (document.body.dataset["languages"] ?? "").split(" ").includes(language);
  if (!isSpoken || document.documentElement.lang === language || address.searchParams.has(NAME)) return false;
  address.searchParams.set(NAME, language);
  location.replace(address);
  return true;
}

/** What was chosen in this browser. */
export function chosenHere() {
  return localStorage.getItem(KEY);
}
