// The fields of an action: each kind makes its controls and tells what they say, as members of the request.
//
//   text, area, number   {name, label, hint?, value?, required?, max?, min?, type?, inputmode?, clears?}
//   choice               {name, label, options: [[value, words]], value?, number?, other?: {label, min, max}}
//   switch               {name, label, value, hint?}                  a boolean
//   checks               {name, label, options: [{value, label, hint?, locked?, code?}], value, filter?, least?}   a list
//   lines                {name, label, value, hint?, lazy?, required?}   a list, one entry a line; lazy: none is not sent
//   bits                 {names: [add, remove], label, table, value, text?}   what is to be set and what cleared
//   mask                 {name, label, table, value}                  all bits as one number
//   difference           {names: [add, remove], label, options, value}   what is to be added to a list, and taken away
//   messages             {name, label, hint?}                         a list of {channel_id, message_id}
//   numbers              {names: [chosen, reset], label, value, defaults, hint}   {name: number}, and those that were emptied
//   fixed                {name, label, value, words}                  sent as it is, and told
//
// With `changed` a field is sent only when it says something else than before; with `clears`, null when it was emptied.
// A made field is {element, members(), problems?()}; `members` gives {} for what was left empty, `problems` what is wrong. Every control has the name of its
// member, so that the API's complaints find it.

import { h } from "./dom.js";
import { bitsOf } from "./admin_registries.js";
import { t } from "./spoken.js";

let made = 0;

export function makeField(field) {
  made += 1;
  const whole = KINDS[field.kind](field, `field-${made}`);
  if (!field.changed) return whole;
  const before = JSON.stringify(whole.members());
  const members = () => {
    const now = whole.members();
    return JSON.stringify(now) === before ? {} : now;
  };
  return { ...whole, members };
}

// The members that a field sends: what tests hold against the bodies that the server declares.
export function membersOf(field) {
  return field.names ?? [field.name];
}

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

const trimmed = (control) => control.value.trim();
const present = (name, value) => (value === "" ? {} : { [name]: value });

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

function area(field, id) {
  const control = h("textarea", { id, name: field.name, rows: "3", maxlength: field.max, required: field.required });
  control.value = field.value ?? "";
  return { element: labelled(field, id, control), members: () => present(field.name, trimmed(control)) };
}

function number(field, id) {
  const control = numberInput(id, field);
  const members = () => (trimmed(control) === "" ? {} : { [field.name]: Number(control.value) });
  return { element: labelled(field, id, control), members };
}

function numberInput(id, { name, value, min, max, required }) {
  return h("input", { id, name, type: "number", inputmode: "numeric", value: value ?? "", min, max, required, step: "1", autocomplete: "off" });
}

const OTHER = "other";

function choice(field, id) {
  const options = [...field.options];
  if (field.value === "") options.unshift(["", t("Choose …")]);
  if (field.other) options.push([OTHER, t("Another time …")]);
  const select = h(
    "select",
    { id, name: field.name, required: true },
    options.map(([value, words]) => h("option", { value, selected: value === field.value }, words)),
  );
  const element = labelled(field, id, select);
  let other = null;
  if (field.other) {
    const label = h("label", { for: `${id}-other` }, field.other.label);
    // It has no name of its own: the member is the select's, and so are the API's complaints.
    other = numberInput(`${id}-other`, { ...field.other });
    const row = h("div", { class: "field other", hidden: true }, label, other);
    select.addEventListener("change", () => (row.hidden = select.value !== OTHER));
    element.append(row);
  }
  const members = () => {
    const value = select.value === OTHER ? other.value.trim() : select.value;
    return value === "" ? {} : { [field.name]: field.number ? Number(value) : value };
  };
  const isOpen = () => select.value === OTHER && other.value.trim() === "";
  return { element, members, problems: () => (isOpen() ? [{ input: other, message: t("Fill in this field.") }] : []) };
}

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

function checks(field, id) {
  const boxes = field.options.map((option, index) => box(option, `${id}-${index}`, field.value.includes(option.value), field.name));
  // What is held and not offered stays.
  const unknown = field.value.filter((value) => !field.options.some((option) => option.value === value));
  const chosen = () => [...boxes.filter(({ control }) => control.checked).map(({ value }) => value), ...unknown];
  const problems = () => (field.least && chosen().length === 0 ? [{ input: boxes[0].control, message: field.least }] : []);
  return { element: group(field, id, boxes), members: () => ({ [field.name]: chosen() }), problems };
}

function bits(field, id) {
  const before = new Set(bitsOf(field.value, field.table).map(([position]) => position));
  const rows = [...field.table, ...bitsOf(field.value, field.table).filter(([position]) => !field.table.some(([known]) => known === position))];
  const boxes = rows.map(([position, name, words], index) =>
    box({ value: position, label: name, hint: words, code: true }, `${id}-${index}`, before.has(position), field.names[0]),
  );
  const value = (position) => (field.text ? String(1n << BigInt(position)) : 2 ** position);
  const members = () => {
    const added = boxes.filter(({ control, value: position }) => control.checked && !before.has(position));
    const removed = boxes.filter(({ control, value: position }) => !control.checked && before.has(position));
    const [add, remove] = field.names;
    return { [add]: added.map((one) => value(one.value)), [remove]: removed.map((one) => value(one.value)) };
  };
  return { element: group({ ...field, filter: rows.length > 12 }, id, boxes), members };
}

function mask(field, id) {
  const set = new Set(bitsOf(field.value, field.table).map(([position]) => position));
  const boxes = field.table.map(([position, name, words], index) =>
    box({ value: position, label: name, hint: words, code: true }, `${id}-${index}`, set.has(position), field.name),
  );
  const members = () => ({ [field.name]: boxes.reduce((sum, { control, value }) => sum + (control.checked ? 2 ** value : 0), 0) });
  return { element: group(field, id, boxes), members };
}

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

function box({ value, label, hint, locked, code }, id, checked, name) {
  const control = h("input", { id, name, type: "checkbox", checked, disabled: Boolean(locked) });
  const note = [hint, locked].filter(Boolean).join(", ");
  if (note) control.setAttribute("aria-describedby", `${id}-hint`);
  const words = h("span", {}, h("span", { class: code ? "code" : "" }, label), note ? [" ", h("span", { class: "muted", id: `${id}-hint` }, note)] : null);
  return { value, control, words: `${label} ${note}`.toLowerCase(), element: h("label", { class: "check", for: id }, control, words) };
}

// Many boxes scroll by themselves and can be looked through.
function group(field, id, boxes) {
  const list = h("div", { class: "checks", id: `${id}-list` }, boxes.map(({ element }) => element));
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

function lines(field, id) {
  const control = h("textarea", { id, name: field.name, rows: "5", required: field.required });
  control.value = field.value.join("\n");
  const members = () => (field.lazy && control.value.trim() === "" ? {} : { [field.name]: linesOf(control.value) });
  return { element: labelled({ ...field, required: !field.lazy }, id, control), members };
}

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

function linesOf(value) {
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function messages(field, id) {
  const control = h("textarea", { id, name: field.name, rows: "5", required: true, spellcheck: "false" });
  const members = () => ({ [field.name]: linesOf(control.value).map(entryOf) });
  return { element: labelled(field, id, control), members };
}

// "…/channels/guild/channel/message", or the two identifiers with anything between them: the last two numbers count.
function entryOf(line) {
  const [channel, message] = (line.match(/\d+/g) ?? []).slice(-2);
  return { channel_id: channel ?? line, message_id: message ?? "" };
}

function fixed(field) {
  const element = h("dl", { class: "facts-of" }, h("dt", {}, field.label), h("dd", {}, field.words));
  return { element, members: () => ({ [field.name]: field.value }) };
}

const KINDS = { text, area, number, choice, switch: toggle, checks, bits, mask, difference, lines, messages, numbers, fixed };
