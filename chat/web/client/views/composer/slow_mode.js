// How long one waits in a slow channel before the next message, counted down beside the field.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";

const SECOND = 1000;

/**
 * @param {() => number} seconds between two messages; 0 where nobody waits
 * @param {() => number} now
 * @param {() => void} changed
 */
export function makeSlowMode(seconds, now, changed) {
  const element = h("span", { class: "slow meta", role: "timer" });
  let until = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function left() {
    return Math.max(0, Math.ceil((until - now()) / SECOND));
  }

  function tick() {
    const rest = left();
    element.textContent = rest > 0 ? t("composer.slow", { n: rest }) : "";
    clearTimeout(timer);
    if (rest > 0) timer = setTimeout(tick, until - now() - (rest - 1) * SECOND);
    changed();
  }

  return {
    element,
    isWaiting: () => left() > 0,
    sent() {
      until = now() + seconds() * SECOND;
      if (seconds() > 0) tick();
    },
    stop: () => clearTimeout(timer),
  };
}
