// Sends a request of the reference to this instance. The token stays in this page's memory: it is in no storage, in no
// address, and gone with the page. Under `chat dev` the accounts of the world can be chosen.

import { h } from "../client/base/dom.js";
import { t } from "./spoken.js";

const OPERATION = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/;
const SHOWN_CHARACTERS = 20_000;
const SHOWN_HEADERS = ["retry-after", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset-after"];

let authorization = "";

/** @typedef {[name: string, authorization: string]} Account */
/** @typedef {HTMLInputElement | HTMLTextAreaElement} Written */
/** @typedef {{members: Map<string, Written>, query: Written, body: Written | null}} Fields */

/** @type {Promise<Account[]> | null} */
let world = null;

/** @returns {Promise<Account[]>} */
function worldAccounts() {
  world ??= fetch("/v1/_dev/world", { credentials: "omit" })
    .then((answer) => answer.json())
    .then((/** @type {import("./dev_parts.js").World} */ { admin, users, bot }) => [
      ...[...users, admin].map(({ username, token }) => /** @type {Account} */ ([username, token])),
      ["bot", `Bot ${bot.token}`],
    ]);
  return world;
}

/**
 * @param {string} label
 * @param {HTMLElement} input
 */
function field(label, input) {
  return h("label", { class: "try-field" }, h("span", {}, label), input);
}

function credentialField() {
  const input = h("input", { type: "password", autocomplete: "off", spellcheck: "false", maxlength: 512 });
  input.value = authorization;
  input.addEventListener("input", () => {
    authorization = input.value.trim();
  });
  return input;
}

/**
 * @param {HTMLElement} panel
 * @param {HTMLInputElement} input
 */
async function offerAccounts(panel, input) {
  const accounts = await worldAccounts();
  const choice = h("select", {}, ...accounts.map(([name]) => h("option", { value: name }, name)));
  const choose = () => {
    authorization = accounts.find(([name]) => name === choice.value)?.[1] ?? "";
    input.value = authorization;
  };
  choice.addEventListener("change", choose);
  panel.prepend(field(t("Account of the world"), choice));
  if (authorization === "") choose();
  else choice.value = accounts.find(([, token]) => token === authorization)?.[0] ?? "";
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Fields} fields
 * @param {HTMLElement} output
 */
async function send(method, path, { members, query, body }, output) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(members.get(name)?.value.trim() ?? ""));
  const address = filled + (query.value.trim() === "" ? "" : `?${query.value.trim()}`);
  const hasBody = body !== null && body.value.trim() !== "";
  const started = performance.now();
  try {
    const answer = await fetch(address, {
      method,
      credentials: "omit",
      headers: {
        ...(authorization === "" ? {} : { Authorization: authorization }),
        ...(hasBody ? { "Content-Type": "application/json" } : {}),
      },
      ...(hasBody ? { body: body.value } : {}),
    });
    const text = await answer.text();
    const took = Math.round(performance.now() - started);
    const headers = SHOWN_HEADERS.filter((name) => answer.headers.has(name));
    output.textContent = [
      `${method} ${address}`,
      [answer.status, answer.statusText, `(${took} ms)`].join(" "),
      ...headers.map((name) => `${name}: ${answer.headers.get(name)}`),
      "",
      pretty(text).slice(0, SHOWN_CHARACTERS),
    ].join("\n");
  } catch {
    output.textContent = t("The server cannot be reached.");
  }
  output.hidden = false;
}

/**
 * @param {string} method
 * @param {string} path
 */
function panelFor(method, path) {
  const members = new Map([...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, h("input", { autocomplete: "off" })]));
  const query = h("input", { autocomplete: "off", placeholder: "limit=2", spellcheck: "false" });
  const body = method === "GET" ? null : h("textarea", { rows: 5, spellcheck: "false" }, "{}");
  const output = h("pre", { class: "code", tabindex: 0, hidden: true, role: "status" });
  const token = credentialField();
  const credential = h("div", {}, field(t("Authorization"), token));
  const form = h(
    "form",
    { class: "try", method: "post", "aria-label": `${method} ${path}` },
    h("p", { class: "muted" }, t("The request goes to this instance and takes effect. The token stays in this page.")),
    credential,
    ...[...members].map(([name, input]) => field(name, input)),
    field(t("Query"), query),
    ...(body === null ? [] : [field(t("Body"), body)]),
    h("button", { type: "submit", class: "primary" }, t("Send")),
    output,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(method, path, { members, query, body }, output);
  });
  if (document.querySelector("[data-development='yes']") !== null) void offerAccounts(credential, token);
  return form;
}

for (const heading of document.querySelectorAll(".manual-text h2[id]")) {
  const found = OPERATION.exec(heading.firstChild?.textContent?.trim() ?? "");
  if (found === null) continue;
  const [, method = "", path = ""] = found;
  const button = h("button", { type: "button", class: "try-open", "aria-expanded": "false" }, t("Try it"));
  button.addEventListener("click", () => {
    const open = button.nextElementSibling?.matches("form.try") ?? false;
    if (open) button.nextElementSibling?.remove();
    else button.after(panelFor(method, path));
    button.setAttribute("aria-expanded", String(!open));
  });
  heading.nextElementSibling?.after(button);
}
