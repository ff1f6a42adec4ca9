// Who reacted, beside a reaction that is pointed at or has the focus: some names, asked for when they are wanted.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { listOf } from "../../words/dates.js";
import { nameOf } from "../names/people.js";

const WAIT_MS = 350;
const NAMED = 8;
const KEPT = 50;
const GAP = 6;

/**
 * @param {object} parts
 * @param {HTMLElement} parts.element what the rows stand in
 * @param {import("../names/people.js").Place} parts.place
 * @param {import("../../acts/acts.js").Acts} parts.acts
 * @param {string} parts.channelId
 */
export function makeReactorsHint({ element, place, acts, channelId }) {
  const words = h("span", {});
  const id = `reactors-${channelId}`;
  const hint = h("div", { class: "reactors-hint small", role: "tooltip", id, popover: "manual" }, words);
  /** @type {Map<string, Promise<string>>} by message, emoji and count */
  const known = new Map();
  /** @type {HTMLElement | null} */
  let shown = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {EventTarget | null} target */
  function reactionOf(target) {
    const button = target instanceof Element ? target.closest("button.reaction[data-emoji]") : null;
    return /** @type {HTMLElement | null} */ (button);
  }

  /**
   * @param {string} messageId
   * @param {string} key as `emojiKey` makes it
   */
  function asked(messageId, key) {
    const message = place.store.read.logs.get(channelId)?.byId.get(messageId);
    const [, name = key, id = null] = /^(\w+):(\d+)$/.exec(key) ?? [];
    const one = message?.reactions?.find(({ emoji }) => emoji.name === name && (emoji.id ?? null) === id);
    const count = one?.count ?? 0;
    const about = `${messageId} ${key} ${count} ${one?.me}`;
    const before = known.get(about);
    if (before) return before;
    const answer = acts.messages.reactors(channelId, messageId, { id, name }, NAMED).then((users) => {
      const names = users.map((user) => nameOf(place, user));
      const rest = count - names.length;
      return listOf(rest > 0 ? [...names, t("message.more_reactors", { n: rest })] : names);
    });
    known.set(about, answer);
    answer.catch(() => known.delete(about));
    for (const first of known.keys()) if (known.size > KEPT) known.delete(first);
    return answer;
  }

  /** @param {HTMLElement} button */
  function wait(button) {
    if (button === shown) return;
    hide();
    shown = button;
    timer = setTimeout(() => void show(button), WAIT_MS);
  }

  /** @param {HTMLElement} button */
  async function show(button) {
    const messageId = button.closest("article")?.dataset["id"] ?? "";
    const names = await asked(messageId, button.dataset["emoji"] ?? "").catch(() => "");
    if (shown !== button || !button.isConnected || names === "") return;
    words.textContent = names;
    if (!hint.isConnected) element.append(hint);
    hint.showPopover();
    button.setAttribute("aria-describedby", hint.id);
    put(button);
  }

  /** Above it, within the window. @param {HTMLElement} button */
  function put(button) {
    const spot = button.getBoundingClientRect();
    const { width, height } = hint.getBoundingClientRect();
    const x = Math.max(GAP, Math.min(spot.left + (spot.width - width) / 2, innerWidth - width - GAP));
    const y = spot.top - height - GAP;
    hint.style.setProperty("left", `${x}px`);
    hint.style.setProperty("top", `${y < GAP ? spot.bottom + GAP : y}px`);
  }

  function hide() {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    if (hint.isConnected) hint.hidePopover();
  }

  /** @param {PointerEvent} event */
  function pointed(event) {
    if (event.pointerType === "touch" || hint.contains(/** @type {Node} */ (event.target))) return;
    const button = reactionOf(event.target);
    if (button) wait(button);
    else if (shown && shown !== document.activeElement) hide();
  }

  element.addEventListener("pointerover", pointed);
  element.addEventListener("pointerleave", hide);
  element.addEventListener("scroll", hide, { capture: true, passive: true });
  element.addEventListener("focusin", (event) => {
    const button = reactionOf(event.target);
    if (button?.matches(":focus-visible")) wait(button);
    else hide();
  });
  element.addEventListener("focusout", hide);
  /** Wherever the focus is: what covers something can be put away. @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.key !== "Escape" || !hint.matches(":popover-open")) return;
    event.stopPropagation();
    hide();
  }

  document.addEventListener("keydown", pressed, true);
  return {
    stop() {
      hide();
      document.removeEventListener("keydown", pressed, true);
    },
  };
}
