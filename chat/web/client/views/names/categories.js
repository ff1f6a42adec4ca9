// What communities in discovery are about.

import { t } from "../../words/catalogue.js";

/** By the category's number (guilds.md, Discovery). @type {readonly (() => string)[]} */
const WORDS = [
  () => t("category.gaming"),
  () => t("category.music"),
  () => t("category.entertainment"),
  () => t("category.education"),
  () => t("category.science"),
  () => t("category.creators"),
  () => t("category.anime"),
  () => t("category.films"),
  () => t("category.other"),
];

/** @param {number} id */
export function categoryWords(id) {
  return (WORDS[id] ?? WORDS.at(-1))?.() ?? "";
}
