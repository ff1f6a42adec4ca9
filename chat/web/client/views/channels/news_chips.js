// What is new above and below the part of a list that is in sight; a press brings the nearest into view.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";

/** @typedef {"above" | "below"} Side */

const NEW = ".channel-link.unread:not(.muted-channel), .channel-link:has(.badge)";

/**
 * @param {HTMLElement} list What scrolls.
 * @param {HTMLElement} head What stays above it.
 * @param {HTMLElement} rows
 */
export function makeNewsChips(list, head, rows) {
  const above = chip("above", t("channels.new_above"));
  const below = chip("below", t("channels.new_below"));
  let isWaiting = false;

  /** @param {Side} side @param {string} words */
  function chip(side, words) {
    const show = () => {
      const link = out()[side].at(side === "above" ? -1 : 0);
      link?.scrollIntoView({ block: "center" });
      if (link instanceof HTMLElement) link.focus({ preventScroll: true });
    };
    return h("button", { type: "button", class: `news-chip ${side}`, hidden: "", click: show }, words);
  }

  function out() {
    const top = head.getBoundingClientRect().bottom;
    const { bottom } = list.getBoundingClientRect();
    const links = [...rows.querySelectorAll(NEW)];
    return {
      above: links.filter((link) => link.getBoundingClientRect().bottom <= top + 1),
      below: links.filter((link) => link.getBoundingClientRect().top >= bottom - 1),
    };
  }

  function draw() {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      if (!list.checkVisibility()) return;
      const news = out();
      for (const [button, links] of /** @type {const} */ ([
        [above, news.above],
        [below, news.below],
      ])) {
        button.hidden = links.length === 0;
        button.classList.toggle("mentions", links.some((link) => link.querySelector(".badge") !== null));
      }
    });
  }

  list.addEventListener("scroll", draw, { passive: true });
  const watcher = new ResizeObserver(draw);
  watcher.observe(list);
  return { above, below, draw, stop: () => watcher.disconnect() };
}
