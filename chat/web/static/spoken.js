// Waits for the words of the page's language: a module that says something while it loads imports from here.

import { learn } from "./language.js";

export { locale, plural, t, tn, translated } from "./language.js";

/** @param {string} address */
async function read(address) {
  const answer = await fetch(address, { credentials: "omit" }).catch(() => null);
  // Without its words the page speaks English.
  if (answer?.ok) learn(await answer.json());
}

await Promise.all((document.body.dataset["words"] ?? "").split(" ").filter(Boolean).map(read));
