// Small hands for the document. Text from outside only ever arrives as text nodes and attribute values.

import { locale } from "./spoken.js";


export function byId(id) {
  return document.getElementById(id);
}

// Makes an element: h("a", {href: "/login", class: "quiet"}, "Sign in"). Functions become listeners, `false` and null
// leave an attribute out, `true` sets it empty.
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(attribute, value);
    else if (value === true) element.setAttribute(attribute, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(attribute, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
}

// Shows one of the page's steps (`<section data-step>`), hides the others, and moves the reader to its heading.
export function showStep(id, { focus = true } = {}) {
  for (const step of document.querySelectorAll("[data-step]")) step.hidden = step.id !== id;
  const step = byId(id);
  const heading = step.querySelector("h1, h2");
  if (heading && step.dataset.title !== undefined) {
    document.title = `${step.dataset.title || heading.textContent} – ${document.body.dataset.serviceName}`;
  }
  if (!focus) return;
  const target = step.querySelector("[data-first]") ?? heading;
  if (target === heading) heading.tabIndex = -1;
  target?.focus();
}

// Says something without moving the focus: the live region of the section, else of the page, reads it out, and it stays
// to be seen.
export function say(text, kind = "good", section = document) {
  const status = section.querySelector(".status");
  status.className = `status ${kind}`;
  status.textContent = text;
}

export function when(timestamp) {
  const moment = new Date(timestamp);
  return h(
    "time",
    { datetime: moment.toISOString() },
    moment.toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" }),
  );
}

// The secret in the fragment of a mailed link (`#token=...`): out of the address bar and of the history at once.
export function takeFragmentToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  history.replaceState(null, "", location.pathname + location.search);
  return token;
}
