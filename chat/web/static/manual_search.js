// Searches the whole manual in the browser: the server's index comes when somebody turns to the field.

import { fill, h } from "../client/base/dom.js";
import { byId, inputById } from "./dom.js";
import { plural, t } from "./spoken.js";

const MOST = 20;
const AROUND = 90;

const field = inputById("manual-query");
const found = byId("manual-found");

/** The search for what stands in the field now. */
let searching = Promise.resolve();

/** @typedef {[page: string, title: string, address: string, text: string]} Section */

/** @type {Promise<Section[]> | null} */
let reading = null;

/** @returns {Promise<Section[]>} */
function sections() {
  const place = /** @type {HTMLElement | null} */ (field.closest("[data-index]"));
  reading ??= fetch(place?.dataset["index"] ?? "", { credentials: "omit" }).then((answer) => {
    if (!answer.ok) throw new Error(`the index answers ${answer.status}`);
    return answer.json();
  });
  return reading;
}

/**
 * Every word has to stand somewhere in a section; where it stands says how much it weighs.
 * @param {string[]} words
 * @param {Section} section
 */
function weight(words, [page, title, , text]) {
  const places = [page.toLowerCase(), title.toLowerCase(), text.toLowerCase()];
  let sum = 0;
  for (const word of words) {
    const [inPage = -1, inTitle = -1, inText = -1] = places.map((place) => place.indexOf(word));
    if (inPage < 0 && inTitle < 0 && inText < 0) return 0;
    sum += (inPage === 0 ? 8 : 0) + (inPage >= 0 ? 4 : 0) + (inTitle === 0 ? 12 : 0) + (inTitle >= 0 ? 10 : 0);
    sum += inText >= 0 ? 1 + Math.min(4, text.toLowerCase().split(word).length - 1) : 0;
  }
  return sum;
}

/**
 * @param {string[]} words
 * @param {string} text
 */
function excerpt(words, text) {
  const low = text.toLowerCase();
  const at = Math.min(...words.map((word) => low.indexOf(word)).filter((place) => place >= 0));
  if (!Number.isFinite(at)) return [text.slice(0, 2 * AROUND)];
  const start = Math.max(0, at - AROUND / 2);
  const word = words.find((one) => low.startsWith(one, at)) ?? "";
  const end = at + word.length;
  return [
    `${start > 0 ? "…" : ""}${text.slice(start, at)}`,
    h("mark", {}, text.slice(at, end)),
    text.slice(end, end + AROUND),
  ];
}

function close() {
  found.hidden = true;
}

async function search() {
  const query = field.value.trim().toLowerCase();
  const words = query.split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    close();
    return;
  }
  let rows;
  try {
    rows = await sections();
  } catch {
    reading = null;
    byId("manual-count").textContent = t("The search cannot be reached.");
    found.hidden = false;
    return;
  }
  if (field.value.trim().toLowerCase() !== query) return;
  const hits = rows
    .map((row) => ({ row, sum: weight(words, row) }))
    .filter(({ sum }) => sum > 0)
    .sort((one, other) => other.sum - one.sum);
  byId("manual-count").textContent = hits.length
    ? plural(hits.length, "{n} place", "{n} places")
    : t("Nothing is found.");
  fill(
    byId("manual-hits"),
    hits.slice(0, MOST).map(({ row: [page, title, address, text] }) =>
      h(
        "li",
        {},
        h(
          "a",
          { href: address, lang: "en" },
          h("strong", {}, title === page ? page : `${page} › ${title}`),
          h("span", {}, ...excerpt(words, text)),
        ),
      ),
    ),
  );
  found.hidden = false;
}

field.addEventListener("focus", () => void sections().catch(() => (reading = null)));
field.addEventListener("input", () => {
  searching = search();
});

/** Follows the first place of what stands in the field, once it is found. */
async function followFirst() {
  const asked = field.value;
  await searching;
  if (field.value === asked && !found.hidden) found.querySelector("a")?.click();
}

document.addEventListener("keydown", (event) => {
  const links = [...found.querySelectorAll("a")];
  const inside = found.contains(document.activeElement) || document.activeElement === field;
  if (event.key === "/" && !/^(?:INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "")) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Escape" && inside) {
    close();
    field.focus();
  } else if (["ArrowDown", "ArrowUp"].includes(event.key) && inside && !found.hidden && links.length > 0) {
    event.preventDefault();
    const place = links.findIndex((link) => link === document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    (links[place] ?? (place < 0 ? field : links.at(-1)))?.focus();
  } else if (event.key === "Enter" && document.activeElement === field) {
    void followFirst();
  }
});

document.addEventListener("click", ({ target }) => {
  const inside = target instanceof Element && found.contains(target);
  if (target === field || (inside && !target.closest("a"))) return;
  close();
});

// Beyond the last place Tab goes on in the page, which the list would cover.
field.closest(".manual-search")?.addEventListener("focusout", (event) => {
  const to = /** @type {FocusEvent} */ (event).relatedTarget;
  if (to instanceof Node && !found.contains(to) && to !== field) close();
});
