// What stands in place of the field where somebody cannot write: why, and until when.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { clock, full, relative } from "../../words/dates.js";

/** @typedef {import("../../store/hindrances.js").Hindrance} Hindrance */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

const SIGNS = { forbidden: "lock", timeout: "clock", locked: "lock", blocked: "ban" };

/**
 * @param {Hindrance} hindrance
 * @param {() => number} now
 * @param {() => void} ended
 */
export function makeNotice({ why, until }, now, ended) {
  const words = h("span", {});
  const element = h("p", { class: "composer-why", role: "note" }, icon(SIGNS[why]), words);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function tick() {
    fill(words, sentence());
    if (until === null) return;
    const left = until - now();
    if (left <= 0) return ended();
    timer = setTimeout(tick, left <= MINUTE ? Math.min(SECOND, left) : Math.min(MINUTE / 4, left - MINUTE + 1));
  }

  function sentence() {
    if (until === null) return WORDS[why]();
    const at = until - now() < DAY ? clock(until) : full(until);
    return t("composer.timeout", { time: at, rest: relative(until, now()) });
  }

  tick();
  return { element, stop: () => clearTimeout(timer) };
}

const WORDS = {
  forbidden: () => t("composer.forbidden"),
  timeout: () => t("composer.forbidden"),
  locked: () => t("composer.locked"),
  blocked: () => t("composer.blocked"),
};
