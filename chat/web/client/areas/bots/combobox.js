// A field for which the application offers choices while somebody types: arrows move, Enter takes, Escape closes.

import { fill, h } from "../../base/dom.js";
import { plainName } from "../../views/names/people.js";
import { inputPart, partId } from "./parts.js";

/** @typedef {import("../../acts/interactions.js").Choice} Choice */

/** A word that is still being typed is not asked for. */
const ASK_MS = 200;

/**
 * @param {import("./parts.js").Words} words
 * @param {number} most Characters.
 * @param {(value: string) => Promise<Choice[]>} ask
 * @returns {import("./parts.js").Part}
 */
export function typedPart(words, most, ask) {
  const id = partId();
  const input = h("input", {
    class: "input",
    type: "text",
    dir: "auto",
    autocomplete: "off",
    maxlength: most,
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": id,
  });
  const named = { role: "listbox", id, "aria-label": plainName(words.label) };
  const list = h("ul", { ...named, class: "choices offered", hidden: true });
  const part = inputPart(words, input);
  part.element.classList.add("offering");
  input.after(list);
  /** @type {Choice[]} */
  let choices = [];
  let at = 0;
  /** @type {Choice | null} what was taken, as long as it stands there */
  let taken = null;
  let asked = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function draw() {
    list.hidden = choices.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (list.hidden) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `${id}-${at}`);
    fill(list, ...choices.map(row));
    list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {Choice} choice @param {number} index */
  function row(choice, index) {
    const press = (/** @type {Event} */ event) => (event.preventDefault(), take(index));
    const isChosen = String(index === at);
    const attributes = { role: "option", id: `${id}-${index}`, "aria-selected": isChosen, pointerdown: press };
    return h("li", attributes, h("bdi", { class: "clip" }, plainName(choice.name)));
  }

  /** @param {number} index */
  function take(index) {
    taken = choices[index] ?? null;
    if (taken) input.value = plainName(taken.name);
    part.complain(null);
    close();
  }

  function close() {
    asked += 1;
    clearTimeout(timer);
    choices = [];
    draw();
  }

  async function offer() {
    const number = (asked += 1);
    // What nobody offers, the person can still type.
    const found = await ask(input.value).catch(() => []);
    if (number !== asked || document.activeElement !== input) return;
    [choices, at] = [found, 0];
    draw();
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(() => void offer(), ASK_MS);
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && choices.length === 0) soon();
    else if (choices.length === 0) return;
    else if (step !== undefined) {
      at = (at + step + choices.length) % choices.length;
      draw();
    } else if (event.key === "Enter") take(at);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  input.addEventListener("input", () => ((taken = null), soon()));
  input.addEventListener("focus", soon);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", pressed);
  return { ...part, read: () => (taken ? [String(taken.value)] : part.read()) };
}
