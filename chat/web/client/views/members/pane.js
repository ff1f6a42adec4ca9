// Where the people of a channel stand: a column on a wide window, a drawer on a narrower one, a pane of its own on a
// telephone. Whether the column is wanted is kept.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { storage } from "../../base/storage.js";
import { t } from "../../words/catalogue.js";
import { makeMemberList } from "./member_list.js";

/** @typedef {import("../shell/app.js").App} App */

const KEPT = "members:open";
/** A conversation of two, and notes to oneself. */
const WITHOUT = new Set([1, 999]);

/**
 * @param {App} app
 * @param {HTMLElement} root Its `data-pane` says which pane a narrow window shows.
 * @param {() => void} close Brings the talk back where one pane is shown.
 */
export function makeMembersPane(app, root, close) {
  const { store, acts } = app;
  const wide = matchMedia("(min-width: 64rem)");
  const shut = h("button", { type: "button", class: "icon-button", "aria-label": t("members.close"), click: leave });
  shut.append(icon("close"));
  const title = h("p", { class: "members-title", "aria-hidden": "true" }, t("members.name"));
  const head = h("div", { class: "members-head" }, title, shut);
  const element = h("div", { class: "members-pane" });
  /** @type {{channelId: string, guildId: string | null} | null} */
  let place = null;
  /** @type {ReturnType<typeof makeMemberList> | null} */
  let list = null;
  let isWanted = true;
  let shown = "";

  function isOpen() {
    const type = place === null ? 1 : (store.read.channels.get(place.channelId)?.type ?? 1);
    return !WITHOUT.has(type) && (wide.matches ? isWanted : root.dataset["pane"] === "members");
  }

  function settle() {
    const next = place !== null && isOpen() ? `${place.guildId}:${place.channelId}` : "";
    root.querySelector("[data-toggle=members]")?.setAttribute("aria-pressed", String(next !== ""));
    if (next === shown) return;
    const hadFocus = element.contains(document.activeElement);
    shown = next;
    list?.stop();
    list = null;
    fill(element);
    if (place === null) return;
    // Who a narrow window shows no list is not asked for: the guild is looked at all the same.
    acts.interest.show(place.guildId, place.channelId, []);
    if (next === "") {
      if (hadFocus) /** @type {HTMLElement | null} */ (root.querySelector("[data-toggle=members]"))?.focus();
      return;
    }
    list = makeMemberList({ app, ...place });
    list.element.prepend(head);
    fill(element, list.element);
    if (!wide.matches) list.element.focus();
  }

  function leave() {
    close();
  }

  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || wide.matches) return;
    event.stopPropagation();
    leave();
  });
  wide.addEventListener("change", settle);
  void storage.get(KEPT).then((kept) => {
    isWanted = kept ?? true;
    settle();
  });

  return {
    element,
    settle,
    /** The people of another channel, or of none. @param {{channelId: string, guildId: string | null} | null} next */
    show(next) {
      if (next !== null && next.channelId !== place?.channelId) acts.interest.show(next.guildId, next.channelId, []);
      place = next;
      settle();
    },
    /** Whether the column came or went; elsewhere there is none. */
    toggle() {
      if (!wide.matches) return false;
      isWanted = !isWanted;
      void storage.put(KEPT, isWanted);
      settle();
      return true;
    },
  };
}
