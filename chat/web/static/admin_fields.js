// The fields of an action: each kind makes its controls and tells what they say, as members of the request. Every control
// has the name of its member, so that the API's complaints find it.

import { h } from "../client/base/dom.js";
import { bitsOf } from "./admin_registries.js";
import { t } from "./spoken.js";

/** @typedef {import("../client/base/dom.js").Child} Child */
/** @typedef {import("./admin_registries.js").Bit} Bit */
/** @typedef {Record<string, unknown>} Members */
/**
 * @typedef {object} Made
 * @property {HTMLElement} element
 * @property {() => Members} members Nothing for what was left empty.
 * @property {() => import("./forms.js").Problem[]} [problems] What is wrong.
 */
/**
 * @typedef {object} Named What all kinds of one member have.
 * @property {string} name
 * @property {string} label
 * @property {string} [hint]
 * @property {boolean} [required]
 * @property {boolean} [changed] It is sent only when it says something else than before.
 */
/** @typedef {{names: readonly [string, string], label: string, hint?: string, changed?: boolean}} Twofold */
/**
 * @typedef {object} Typed
 * @property {string} [value]
 * @property {number} [max]
 * @property {string} [type]
 * @property {string} [inputmode]
 * @property {boolean} [clears] null is sent when it was emptied.
 */
/** @typedef {{value?: string | number, min?: number, max?: number}} Bounds */
/** @typedef {{value: string, label: string, hint?: string, locked?: string, code?: boolean}} Option */
/**
 * @typedef {object} Chosen
 * @property {readonly (readonly [string, string])[]} options Values and their words.
 * @property {string} [value]
 * @property {boolean} [number] It is sent as one.
 * @property {Bounds & {label: string}} [other]
 */
/** @typedef {Named & Typed & {kind: "text"}} TextField */
/** @typedef {Named & Typed & {kind: "area"}} AreaField */
/** @typedef {Named & Bounds & {kind: "number"}} NumberField */
/** @typedef {Named & Chosen & {kind: "choice"}} ChoiceField */
/** @typedef {Named & {kind: "switch", value: boolean}} SwitchField Sent as a boolean. */
/**
 * @typedef {Named & {kind: "checks", options: readonly Option[], value: readonly string[], filter?: boolean, least?: string}}
 *   ChecksField Sent as a list; `least` is said where nothing is chosen.
 */
/** @typedef {Named & {kind: "lines", value: readonly string[], lazy?: boolean}} LinesField A list; lazy: none is not sent. */
/** @typedef {Named & {kind: "mask", table: readonly Bit[], value: number}} MaskField Sent as one number. */
/** @typedef {Named & {kind: "messages"}} MessagesField A list of {channel_id, message_id}. */
/** @typedef {Named & {kind: "fixed", value: unknown, words: Child}} FixedField Sent as it is, and told. */
/**
 * @typedef {Twofold & {kind: "bits", table: readonly Bit[], value: string | number, text?: boolean}} BitsField
 * What is to be set and what cleared.
 */
/**
 * @typedef {Twofold & {kind: "difference", options: readonly string[], value: readonly string[]}} DifferenceField
 * What is to be added to a list, and taken away.
 */
/**
 * @typedef {Twofold & {kind: "numbers", value: Record<string, number | undefined>, defaults: Record<string, number>}}
 *   NumbersField Those that were chosen, by name, and the names of those that were emptied.
 */
/**
 * @typedef {TextField | AreaField | NumberField | ChoiceField | SwitchField | ChecksField | LinesField | MaskField
 *   | MessagesField | FixedField | BitsField | DifferenceField | NumbersField} Field
 */
/**
 * @template {Field["kind"]} Kind
 * @typedef {Extract<Field, {kind: Kind}>} Of
 */
/** @typedef {{value: string, control: HTMLInputElement, words: string, element: HTMLElement}} Box */

let made = 0;

/**
 * @param {Field} field
 * @returns {Made}
 */
export function makeField(field) {
  made += 1;
  const whole = /** @type {(field: Field, id: string) => Made} */ (KINDS[field.kind])(field, `field-${made}`);
  if (!field.changed) return whole;
  const before = JSON.stringify(whole.members());
  const members = () => {
    const now = whole.members();
    return JSON.stringify(now) === before ? {} : now;
  };
  return { ...whole, members };
}

/**
 * The members that a field sends: what tests hold against the bodies that the server declares.
 * @param {Field} field
 */
export function membersOf(field) {
  return "names" in field ? field.names : [field.name];
}

/**
 * @param {Named & {kind: string}} field
 * @param {string} id
 * @param {HTMLElement} control
 */
function labelled(field, id, control) {
  if (field.hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, field.label, field.required || field.kind === "choice" ? null : [" ", h("span", { class: "optional" }, t("optional"))]),
    field.hint ? h("p", { class: "hint", id: `${id}-hint` }, field.hint) : null,
    control,
  );
}

const trimmed = (/** @type {{value: string}} */ control) => control.value.trim();
/** @type {(name: string, value: string) => Members} */
const present = (name, value) => (value === "" ? {} : { [name]: value });

/**
 * @param {Of<"text">} field
 * @param {string} id
 * @returns {Made}
 */
function text(field, id) {
  const control = h("input", {
    id,
    name: field.name,
    type: field.type ?? "text",
    value: field.value ?? "",
    maxlength: field.max,
    required: field.required,
    inputmode: field.inputmode,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
  });
  const members = () => (field.clears && trimmed(control) === "" ? { [field.name]: null } : present(field.name, trimmed(control)));
  return { element: labelled(field, id, control), members };
}

/**
 * @param {Of<"area">} field
 * @param {string} id
 * @returns {Made}
 */
function area(field, id) {
  const control = h("textarea", { id, name: field.name, rows: "3", maxlength: field.max, required: field.required });
  control.value = field.value ?? "";
  return { element: labelled(field, id, control), members: () => present(field.name, trimmed(control)) };
}

/**
 * @param {Of<"number">} field
 * @param {string} id
 * @returns {Made}
 */
function number(field, id) {
  const control = numberInput(id, field);
  const members = () => (trimmed(control) === "" ? {} : { [field.name]: Number(control.value) });
  return { element: labelled(field, id, control), members };
}

/**
 * @param {string} id
 * @param {Bounds & {name?: string, required?: boolean}} bounds
 */
function numberInput(id, { name, value, min, max, required }) {
  return h("input", { id, name, type: "number", inputmode: "numeric", value: value ?? "", min, max, required, step: "1", autocomplete: "off" });
}

const OTHER = "other";

/**
 * @param {Of<"choice">} field
 * @param {string} id
 * @returns {Made}
 */
function choice(field, id) {
  /** @type {(readonly [string, string])[]} */
  const options = [...field.options];
  if (field.value === "") options.unshift(["", t("Choose …")]);
  if (field.other) options.push([OTHER, t("Another time …")]);
  const select = h(
    "select",
    { id, name: field.name, required: true },
    options.map(([value, words]) => h("option", { value, selected: value === field.value }, words)),
  );
  const element = labelled(field, id, select);
  /** @type {HTMLInputElement | null} */
  let other = null;
  if (field.other) {
    const label = h("label", { for: `${id}-other` }, field.other.label);
    // It has no name of its own: the member is the select's, and so are the API's complaints.
    other = numberInput(`${id}-other`, field.other);
    const row = h("div", { class: "field other", hidden: true }, label, other);
    select.addEventListener("change", () => (row.hidden = select.value !== OTHER));
    element.append(row);
  }
  const members = () => {
    const value = select.value === OTHER && other ? trimmed(other) : select.value;
    return value === "" ? {} : { [field.name]: field.number ? Number(value) : value };
  };
  const isOpen = () => select.value === OTHER && other !== null && trimmed(other) === "";
  return { element, members, problems: () => (isOpen() ? [{ input: other, message: t("Fill in this field.") }] : []) };
}

/**
 * @param {Of<"switch">} field
 * @param {string} id
 * @returns {Made}
 */
function toggle(field, id) {
  const control = h("input", { id, name: field.name, type: "checkbox", checked: field.value });
  if (field.hint) control.setAttribute("aria-describedby", `${id}-hint`);
  const element = h(
    "div",
    { class: "field" },
    h("label", { class: "check", for: id }, control, field.label),
    field.hint ? h("p", { class: "hint", id: `${id}-hint` }, field.hint) : null,
  );
  return { element, members: () => ({ [field.name]: control.checked }) };
}

/**
 * @param {Of<"checks">} field
 * @param {string} id
 * @returns {Made}
 */
function checks(field, id) {
  const boxes = field.options.map((option, index) => box(option, `${id}-${index}`, field.value.includes(option.value), field.name));
  // What is held and not offered stays.
  const unknown = field.value.filter((value) => !field.options.some((option) => option.value === value));
  const chosen = () => [...boxes.filter(({ control }) => control.checked).map(({ value }) => value), ...unknown];
  const problems = () => (field.least && chosen().length === 0 ? [{ input: boxes[0]?.control, message: field.least }] : []);
  return { element: group(field, id, boxes), members: () => ({ [field.name]: chosen() }), problems };
}

/**
 * @param {Of<"bits">} field
 * @param {string} id
 * @returns {Made}
 */
function bits(field, id) {
  const before = new Set(bitsOf(field.value, field.table).map(([position]) => String(position)));
  const rows = [...field.table, ...bitsOf(field.value, field.table).filter(([position]) => !field.table.some(([known]) => known === position))];
  const boxes = rows.map(([position, name, words], index) =>
    box({ value: `${position}`, label: name, hint: words, code: true }, `${id}-${index}`, before.has(`${position}`), field.names[0]),
  );
  const value = (/** @type {Box} */ one) => (field.text ? String(1n << BigInt(one.value)) : 2 ** Number(one.value));
  const members = () => {
    const added = boxes.filter(({ control, value: position }) => control.checked && !before.has(position));
    const removed = boxes.filter(({ control, value: position }) => !control.checked && before.has(position));
    const [add, remove] = field.names;
    return { [add]: added.map(value), [remove]: removed.map(value) };
  };
  return { element: group({ ...field, filter: rows.length > 12 }, id, boxes), members };
}

/**
 * @param {Of<"mask">} field
 * @param {string} id
 * @returns {Made}
 */
function mask(field, id) {
  const set = new Set(bitsOf(field.value, field.table).map(([position]) => String(position)));
  const boxes = field.table.map(([position, name, words], index) =>
    box({ value: `${position}`, label: name, hint: words, code: true }, `${id}-${index}`, set.has(`${position}`), field.name),
  );
  const members = () => ({ [field.name]: boxes.reduce((sum, { control, value }) => sum + (control.checked ? 2 ** Number(value) : 0), 0) });
  return { element: group(field, id, boxes), members };
}

/**
 * @param {Of<"difference">} field
 * @param {string} id
 * @returns {Made}
 */
function difference(field, id) {
  const options = [...field.options, ...field.value.filter((value) => !field.options.includes(value))];
  const boxes = options.map((value, index) => box({ value, label: value, code: true }, `${id}-${index}`, field.value.includes(value), field.names[0]));
  const members = () => {
    const added = boxes.filter(({ control, value }) => control.checked && !field.value.includes(value));
    const removed = boxes.filter(({ control, value }) => !control.checked && field.value.includes(value));
    return { [field.names[0]]: added.map(({ value }) => value), [field.names[1]]: removed.map(({ value }) => value) };
  };
  return { element: group({ ...field, filter: true }, id, boxes), members };
}

/**
 * @param {Option} option
 * @param {string} id
 * @param {boolean} checked
 * @param {string} name
 * @returns {Box}
 */
function box({ value, label, hint, locked, code }, id, checked, name) {
  const control = h("input", { id, name, type: "checkbox", checked, disabled: Boolean(locked) });
  const note = [hint, locked].filter(Boolean).join(", ");
  if (note) control.setAttribute("aria-describedby", `${id}-hint`);
  const words = h("span", {}, h("span", { class: code ? "code" : "" }, label), note ? [" ", h("span", { class: "muted", id: `${id}-hint` }, note)] : null);
  return { value, control, words: `${label} ${note}`.toLowerCase(), element: h("label", { class: "check", for: id }, control, words) };
}

/**
 * Many boxes scroll by themselves and can be looked through.
 * @param {{label: string, hint?: string, filter?: boolean}} field
 * @param {string} id
 * @param {readonly {element: HTMLElement, words: string}[]} boxes
 */
function group(field, id, boxes) {
  const list = h("div", { class: "checks", id: `${id}-list` }, boxes.map(({ element }) => element));
  /** @type {Child[]} */
  const parts = [h("legend", {}, field.label), field.hint ? h("p", { class: "hint" }, field.hint) : null];
  if (field.filter) {
    const said = h("span", { class: "unseen", role: "status" });
    const filter = h("input", { id: `${id}-filter`, type: "search", placeholder: t("Look for …"), "aria-label": t("Look through: {label}", { label: field.label }), autocomplete: "off" });
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      let shown = 0;
      for (const { element, words } of boxes) {
        element.hidden = !words.includes(wanted);
        if (!element.hidden) shown += 1;
      }
      said.textContent = t("{shown} shown.", { shown });
    });
    filter.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
    parts.push(filter, said);
  }
  return h("fieldset", { class: "field" }, parts, list);
}

/**
 * @param {Of<"lines">} field
 * @param {string} id
 * @returns {Made}
 */
function lines(field, id) {
  const control = h("textarea", { id, name: field.name, rows: "5", required: field.required });
  control.value = field.value.join("\n");
  const members = () => (field.lazy && control.value.trim() === "" ? {} : { [field.name]: linesOf(control.value) });
  return { element: labelled({ ...field, required: !field.lazy }, id, control), members };
}

/**
 * @param {Of<"numbers">} field
 * @param {string} id
 * @returns {Made}
 */
function numbers(field, id) {
  const rows = Object.entries(field.defaults).map(([name, preset], index) => {
    const own = field.value[name] ?? "";
    const control = numberInput(`${id}-${index}`, { name: `${field.names[0]}.${name}`, value: own, min: 0 });
    control.placeholder = String(preset);
    return { name, own: String(own), control, element: h("div", { class: "field number" }, h("label", { for: control.id, class: "code" }, name), control) };
  });
  const members = () => {
    const [chosen, reset] = field.names;
    const changed = rows.map(({ name, own, control }) => [name, control.value.trim(), own]).filter(([, value, own]) => value !== own);
    const set = changed.filter(([, value]) => value !== "").map(([name, value]) => [name, Number(value)]);
    return { [chosen]: Object.fromEntries(set), [reset]: changed.filter(([, value]) => value === "").map(([name]) => name) };
  };
  const boxes = rows.map(({ name, element }) => ({ element, words: name }));
  return { element: group({ ...field, filter: true }, id, boxes), members };
}

/** @param {string} value */
function linesOf(value) {
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/**
 * @param {Of<"messages">} field
 * @param {string} id
 * @returns {Made}
 */
function messages(field, id) {
  const control = h("textarea", { id, name: field.name, rows: "5", required: true, spellcheck: "false" });
  const members = () => ({ [field.name]: linesOf(control.value).map(entryOf) });
  return { element: labelled(field, id, control), members };
}

/**
 * "…/channels/guild/channel/message", or the two identifiers with anything between them: the last two numbers count.
 * @param {string} line
 */
function entryOf(line) {
  const [channel, message] = (line.match(/\d+/g) ?? []).slice(-2);
  return { channel_id: channel ?? line, message_id: message ?? "" };
}

/**
 * @param {Of<"fixed">} field
 * @returns {Made}
 */
function fixed(field) {
  const element = h("dl", { class: "facts-of" }, h("dt", {}, field.label), h("dd", {}, field.words));
  return { element, members: () => ({ [field.name]: field.value }) };
}

const KINDS = { text, area, number, choice, switch: toggle, checks, bits, mask, difference, lines, messages, numbers, fixed };
