// What the field is about besides itself: the message that is answered or changed, with a way out.

import { fill, h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";

/** @param {() => void} leave */
export function makeAbout(leave) {
  const element = h("div", { class: "composer-about small", hidden: "" });
  const ping = h("button", { type: "button", class: "button plain small-button", click: turn });
  let isPinging = true;

  function turn() {
    isPinging = !isPinging;
    draw();
  }

  function draw() {
    ping.title = isPinging ? t("composer.ping_on") : t("composer.ping_off");
    fill(ping, icon(isPinging ? "bell" : "bell-off"), isPinging ? t("composer.ping") : t("composer.no_ping"));
  }

  /**
   * @param {string} words
   * @param {HTMLElement[]} more
   */
  function show(words, ...more) {
    fill(element, h("bdi", { class: "clip" }, words), ...more, iconButton("close", t("composer.leave"), leave));
    element.hidden = false;
  }

  return {
    element,
    /**
     * @param {string} author Its name here.
     * @param {boolean} isOthers Whether somebody is there to be told.
     */
    answers(author, isOthers) {
      isPinging = true;
      draw();
      show(t("composer.answering", { name: author }), ...(isOthers ? [ping] : []));
    },
    changes: () => show(t("composer.editing")),
    hide: () => (element.hidden = true),
    isPinging: () => isPinging,
  };
}
