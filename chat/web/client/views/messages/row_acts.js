// What is done with rows: buttons by one listener for all, keys on the row that has the focus, one tab stop for the
// list.

import { isEphemeral } from "../../store/interactions.js";
import { reveal } from "./body.js";
import { emojiKey } from "./reactions.js";
import { makeToolbar } from "./toolbar.js";

/** @typedef {import("./row.js").Item} Item */

/** What the letters do; they act only while a row itself has the focus. */
/** @type {Record<string, string>} */
const LETTERS = {
  e: "edit",
  r: "reply",
  p: "pin",
  c: "copy",
  u: "unread",
  "+": "pick",
  Delete: "delete",
  Enter: "menu",
};

/** What can be done with a message that nobody else sees, besides what is the list's own. */
const WITH_EPHEMERAL = new Set(["copy", "profile", "link", "channel", "invite", "use", "choose"]);

/**
 * @param {object} parts
 * @param {import("../../acts/acts.js").Acts} parts.acts
 * @param {string} parts.channelId
 * @param {HTMLElement} parts.element what holds the list and the bar of buttons
 * @param {HTMLElement} parts.rows
 * @param {string | undefined} parts.myId
 * @param {(act: string, message: import("wire").Message, element: HTMLElement) => void} parts.on
 * @param {(id: string) => void} parts.jump
 * @param {(id: string) => void} parts.markUnread
 * @param {(error: unknown) => void} parts.report
 * @param {(row: Element) => Item | undefined} parts.itemAt
 */
export function makeRowActs({ acts, channelId, element, rows, myId, on, jump, markUnread, report, itemAt }) {
  /** @type {HTMLElement | null} the row that Tab leads to: the newest until somebody goes to another */
  let current = null;
  let isChosen = false;
  const toolbar = makeToolbar(element, rows, run);
  element.append(toolbar.element);

  /** @param {Element | null | undefined} row */
  function articleOf(row) {
    return /** @type {HTMLElement | null} */ (row?.querySelector(":scope > article") ?? null);
  }

  /**
   * @param {string} act
   * @param {HTMLElement} article
   * @param {HTMLElement} source what was pressed
   */
  function run(act, article, source) {
    const item = article.parentElement ? itemAt(article.parentElement) : undefined;
    if (item === undefined) return;
    const { message } = item;
    if (act === "reveal") return reveal(source);
    if (act === "uncover") return uncover(source);
    if (act === "retry") return void acts.messages.retry(message.nonce ?? "");
    if (act === "discard") return void acts.messages.discard(message.nonce ?? "");
    if (act === "jump") return jump(source.dataset["id"] ?? "");
    if (message.id === "") return;
    if (isEphemeral(message)) {
      if (act === "dismiss" || act === "delete") return acts.interactions.dismiss(message);
      if (!WITH_EPHEMERAL.has(act)) return;
    }
    if (act === "react") return told(react(message, source.dataset["emoji"] ?? ""));
    if (act === "copy") return told(navigator.clipboard.writeText(message.content));
    if (act === "unread") return markUnread(message.id);
    if (act === "pin") return told((message.pinned ? acts.messages.unpin : acts.messages.pin)(channelId, message.id));
    if (act === "edit" && message.author.id !== myId) return;
    on(act, message, source);
  }

  /** @param {HTMLElement} cover */
  function uncover(cover) {
    cover.previousElementSibling?.removeAttribute("inert");
    cover.remove();
  }

  /** @param {Promise<unknown>} done */
  const told = (done) => void done.catch(report);

  /**
   * Adds the reader's own reaction to one that is there, or takes it back.
   * @param {import("../../store/shapes.js").Message} message
   * @param {string} key of the emoji
   */
  async function react(message, key) {
    const there = message.reactions?.find((one) => emojiKey(one.emoji) === key);
    if (there === undefined) return;
    await (there.me ? acts.messages.unreact : acts.messages.react)(channelId, message.id, there.emoji);
  }

  /**
   * Gives a row the focus, and makes it the one that Tab leads to.
   * @param {HTMLElement | null} row
   */
  function focus(row) {
    const chosen = row ?? (current?.isConnected ? current : /** @type {HTMLElement | null} */ (rows.lastElementChild));
    if (chosen === null) return;
    choose(chosen);
    articleOf(chosen)?.focus({ preventScroll: true });
  }

  /** @param {HTMLElement} row */
  function choose(row) {
    if (current !== row) articleOf(current)?.setAttribute("tabindex", "-1");
    current = row;
    articleOf(row)?.setAttribute("tabindex", "0");
  }

  /** @param {HTMLElement | null} row */
  function go(row) {
    if (row === null) return;
    focus(row);
    row.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.dataset["act"] === "reveal" && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      target.click();
      return;
    }
    if (target.tagName !== "ARTICLE" || current === null) return;
    /** @type {Record<string, Element | null>} */
    const rowsBy = {
      ArrowUp: current.previousElementSibling,
      ArrowDown: current.nextElementSibling,
      Home: rows.firstElementChild,
      End: rows.lastElementChild,
    };
    const act = LETTERS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (event.key in rowsBy) go(/** @type {HTMLElement | null} */ (rowsBy[event.key] ?? null));
    else if (act !== undefined) run(act, target, target);
    else return;
    event.preventDefault();
  }

  /** @param {Event} event */
  function under(event) {
    const article = /** @type {Element} */ (event.target).closest?.("article");
    const item = article?.parentElement ? itemAt(article.parentElement) : undefined;
    if (!article || item === undefined || item.message.id === "") return;
    if (isEphemeral(item.message)) return toolbar.hide();
    if (toolbar.article() !== article)
      toolbar.show(/** @type {HTMLElement} */ (article), item.message.author.id === myId);
  }

  /** The row of the bar has gone: the bar goes with it, and its focus to a row that is left. */
  function leave() {
    if (toolbar.element.contains(document.activeElement)) focus(null);
    toolbar.hide();
  }

  rows.addEventListener("click", (event) => {
    const source = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-act]"));
    const article = /** @type {HTMLElement | null} */ (source?.closest("article") ?? null);
    if (!source || !article || (source.dataset["act"] === "link" && !isMisleading(source))) return;
    if (source instanceof HTMLAnchorElement) event.preventDefault();
    run(source.dataset["act"] ?? "", article, source);
  });
  rows.addEventListener("contextmenu", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const article = /** @type {HTMLElement | null} */ (target.closest("article"));
    if (!article || target.closest("a[href], [data-user], img, video") || getSelection()?.toString()) return;
    event.preventDefault();
    run("menu", article, target);
  });
  rows.addEventListener("keydown", pressed);
  rows.addEventListener("focusin", (event) => {
    const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(".slot"));
    if (row) choose(row);
    isChosen ||= row !== rows.lastElementChild;
    under(event);
  });
  rows.addEventListener("pointerover", (event) => event.pointerType !== "touch" && under(event));
  element.addEventListener("pointerleave", () => toolbar.hide());

  return {
    focus,
    moved: () => toolbar.hide(),
    /**
     * After a drawing: one row is the tab stop; a row that went gives the focus to its neighbour.
     * @param {number | null} place where the row with the focus was
     */
    settle(place) {
      if (toolbar.article()?.isConnected === false) leave();
      toolbar.place();
      if (place !== null)
        return focus(
          /** @type {HTMLElement | null} */ (rows.children[Math.min(place, rows.children.length - 1)] ?? null),
        );
      if (rows.lastElementChild === null || (current?.isConnected && (isChosen || hasFocus(current)))) return;
      choose(/** @type {HTMLElement} */ (rows.lastElementChild));
    },
  };
}

/** @param {HTMLElement} row */
function hasFocus(row) {
  return row.contains(document.activeElement);
}

const HOST = /(?:[a-z0-9-]+\.)+[a-z]{2,}/i;

/**
 * Whether the words of a link name another host than the one that it leads to.
 * @param {HTMLElement} link
 */
function isMisleading(link) {
  const named = HOST.exec(link.textContent ?? "")?.[0]?.toLowerCase();
  return named !== undefined && named !== /** @type {HTMLAnchorElement} */ (link).host;
}
