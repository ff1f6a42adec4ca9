// The list of choices above the field. The field keeps the focus; it points at the chosen one.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { candidates } from "./candidates.js";
import { commandCandidates, leavesOf } from "./commands.js";
import { unicodeEmoji } from "../names/emoji_names.js";
import { askedFor, closedEmoji, COMMANDS, ranked } from "./completion_rules.js";

/** A word that is still being typed is not asked for. */
const ASK_MS = 150;

/**
 * @param {Pick<import("./field.js").Field, "area" | "name">} field
 * @param {import("./candidates.js").Where} where
 */
export function makeCompletion({ area: field, name }, where) {
  const id = `choices-${where.channelId}`;
  const element = h("ul", {
    class: "choices",
    role: "listbox",
    id,
    "aria-label": t("composer.choices"),
    hidden: "",
  });
  /** @type {import("./completion_rules.js").Choice[]} */
  let choices = [];
  /** @type {import("./completion_rules.js").Asked | null} */
  let asked = null;
  let chosen = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Record<string, import("../names/emoji_names.js").Row[]> | null} */
  let unicode = null;
  /** @type {import("./commands.js").Leaf[] | null} */
  let leaves = null;
  /** Enter came before the commands were known. */
  let awaited = false;

  /** Whoever is not known yet is asked for, and stands in the list when the answer comes. */
  function ask() {
    clearTimeout(timer);
    if (asked?.kind === "emoji" && !unicode) {
      void unicodeEmoji().then((rows) => ((unicode = rows), asked?.kind === "emoji" && renew()), () => null);
    }
    if (asked?.kind !== "person" || asked.word === "" || where.guildId === null) return;
    const { guildId } = where;
    const { word } = asked;
    timer = setTimeout(() => where.find(guildId, word), ASK_MS);
  }

  /** `:tada:` becomes what it names; what names nothing stays as it is typed. */
  function replaceClosed() {
    const closed = closedEmoji(field.value, field.selectionStart);
    const named = closed && candidates(where, "emoji", unicode ?? {}).find((one) => namesIt(one, closed.word));
    if (closed && named) name(closed.start, named.insert, "");
  }

  /**
   * @param {boolean} isComposing an input method has not ended its word
   * @param {boolean} mayInvoke nothing is being changed, for which it would be
   */
  function look(isComposing, mayInvoke) {
    if (!isComposing) replaceClosed();
    const found = field.selectionStart === field.selectionEnd ? askedFor(field.value, field.selectionStart) : null;
    const next = found?.kind === "command" && !mayInvoke ? null : found;
    if (next?.word !== asked?.word || next?.kind !== asked?.kind) [chosen, awaited] = [0, false];
    if (next?.kind === "command" && asked?.kind !== "command") learn();
    asked = next;
    renew();
    ask();
  }

  /**
   * Commands come and go: each time that somebody begins one they are asked for anew, and those of the last time stand
   * there meanwhile. Where none were known, Enter takes effect when they are.
   */
  function learn() {
    const settled = (/** @type {import("./commands.js").Leaf[]} */ known) => {
      leaves = known;
      if (asked?.kind !== "command") return;
      renew();
      if (awaited) field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
      awaited = false;
    };
    const failed = () => {
      awaited = false; // what may be a command is not sent as a message
      settled(leaves ?? []);
    };
    where.commands().then((known) => settled(leavesOf(known)), failed);
  }

  /** @param {import("./completion_rules.js").Asked} next */
  function fitting(next) {
    if (next.kind === "command") return ranked(commandCandidates(where, leaves ?? []), next.word, COMMANDS);
    return ranked(candidates(where, next.kind, unicode ?? {}), next.word);
  }

  function renew() {
    choices = asked === null ? [] : fitting(asked);
    chosen = Math.max(0, Math.min(chosen, choices.length - 1));
    draw();
  }

  function draw() {
    element.hidden = choices.length === 0;
    fill(element, ...choices.map(option));
    field.setAttribute("aria-expanded", String(!element.hidden));
    if (element.hidden) {
      for (const name of ["aria-activedescendant", "aria-controls", "aria-expanded"]) field.removeAttribute(name);
      return;
    }
    field.removeAttribute("aria-expanded");
    field.setAttribute("aria-controls", id);
    field.setAttribute("aria-activedescendant", `${id}-${chosen}`);
    element.children[chosen]?.scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {import("./completion_rules.js").Choice} choice
   * @param {number} index
   */
  function option(choice, index) {
    const picture = choice.picture === null ? [] : [h("img", { src: choice.picture, alt: "", class: "emoji" })];
    const more = choice.more === "" ? [] : [h("bdi", { class: "meta clip" }, choice.more)];
    const one = h(
      "li",
      { role: "option", id: `${id}-${index}` },
      ...picture,
      h("bdi", { class: "clip" }, choice.label),
      ...more,
    );
    one.setAttribute("aria-selected", String(index === chosen));
    one.addEventListener("pointerdown", (event) => (event.preventDefault(), take(index)));
    return one;
  }

  /** @param {number} index */
  function take(index) {
    const choice = choices[index];
    if (!choice || asked === null) return;
    const { start } = asked;
    close();
    name(start, choice.insert, choice.run ? "" : " ");
    choice.run?.();
  }

  function close() {
    asked = null;
    awaited = false;
    choices = [];
    draw();
  }

  /**
   * Whether a key was for the list.
   * @param {KeyboardEvent} event
   */
  function takes(event) {
    if (event.isComposing) return false;
    if (asked?.kind === "command" && leaves === null && event.key === "Enter" && !event.shiftKey) {
      awaited = true;
      return event.preventDefault(), true;
    }
    if (choices.length === 0) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      chosen = (chosen + step + choices.length) % choices.length;
      draw();
    } else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey) take(chosen);
    else if (event.key === "Escape") close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  field.addEventListener("blur", close);
  const topics = where.guildId === null ? [] : [`guild:${where.guildId}`];
  const unwatch = where.store.watch(topics, () => asked?.kind === "person" && renew());
  return {
    element,
    look,
    takes,
    stop() {
      clearTimeout(timer);
      unwatch();
    },
  };
}

/**
 * @param {import("./completion_rules.js").Candidate} one
 * @param {string} word
 */
function namesIt({ words, also = [] }, word) {
  return words.includes(word) || also.includes(word);
}
