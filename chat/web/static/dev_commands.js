// The commands of bots, used as anybody; and what people did with applications lately: tokens, answers, and the clock.

import { fill, h } from "../client/base/dom.js";
import { ApiError, exchange } from "./api.js";
import { ask } from "./dev_api.js";
import { accounts, clockTime, copyable, nameOf } from "./dev_parts.js";
import { byId, formById, inputById, say } from "./dom.js";
import { world } from "./dev_world.js";
import { t } from "./spoken.js";

/** @typedef {import("wire").ApplicationCommand} Command */
/** @typedef {import("wire").CommandOption} Option */
/** @typedef {{command: Command, path: string[], label: string, options: readonly Option[]}} Leaf */
/** @typedef {{name: string, value?: string | number | boolean, options?: Filled[]}} Filled */
/**
 * @typedef {object} Interaction
 * @property {string} id
 * @property {number} type
 * @property {string | null} name
 * @property {string} user_id
 * @property {string} created_at
 * @property {string | null} due_at
 * @property {string} ends_at
 * @property {number | null} answered_with
 * @property {string | null} token
 * @property {{number: number, at: string, method: string, path: string, status: number, body: unknown}[]} answers
 */

const POLL_MS = 2_000;
const IN_CHAT = 1;
const HOLDING = [1, 2];
const WHOLE = 4;
const TRUTH = 5;
const NUMBER = 10;
/** @type {Record<number, string>} */
const ACTS = { 2: t("command"), 3: t("component"), 4: t("typing"), 5: t("form") };

/** @type {Leaf[]} */
let leaves = [];
let drawn = "";

const as = () => byId("command-as", HTMLSelectElement);
const chosen = () => leaves[Number(byId("command-name", HTMLSelectElement).value)];

export function start() {
  inputById("command-channel").value = world?.channel_id ?? "";
  for (const id of ["command-as", "command-channel"]) byId(id).addEventListener("change", () => void offer());
  byId("command-name").addEventListener("change", drawOptions);
  formById("command-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void invoke();
  });
  setInterval(() => {
    if (!byId("commands").hidden && !document.hidden) void draw();
  }, POLL_MS);
}

export async function look() {
  await Promise.all([offer(), draw()]);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<unknown>} undefined where the server refuses.
 */
async function askAs(method, path, body) {
  try {
    return (await exchange(method, path, { body, token: accounts.get(as().value)?.authorization ?? null })).data;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const fields = error.fields.map((field) => `${field.path}: ${field.message}`);
    say([error.message, ...fields].join(" "), "bad");
    return undefined;
  }
}

/** What the account can invoke in the channel. */
async function offer() {
  const channel = encodeURIComponent(inputById("command-channel").value.trim());
  if (channel === "") return;
  const known = /** @type {import("wire").ChannelCommands | undefined} */ (await askAs("GET", `/v1/channels/${channel}/application-commands`));
  const commands = known?.application_commands ?? [];
  leaves = commands.flatMap((command) => below({ command, path: [], label: titleOf(command), options: command.options ?? [] }));
  const select = byId("command-name", HTMLSelectElement);
  const before = select.selectedOptions[0]?.textContent;
  fill(select, leaves.map(({ label }, place) => h("option", { value: String(place) }, label)));
  const again = leaves.findIndex(({ label }) => label === before);
  if (again >= 0) select.value = String(again);
  byId("no-commands").hidden = leaves.length > 0;
  byId("command-form").hidden = leaves.length === 0;
  if (again < 0) drawOptions();
}

/** @param {Command} command */
function titleOf({ type, name }) {
  return type === IN_CHAT ? `/${name}` : name;
}

/** @param {Leaf} leaf @returns {Leaf[]} */
function below(leaf) {
  const held = leaf.options.filter(({ type }) => HOLDING.includes(type));
  if (held.length === 0) return [leaf];
  return held.flatMap((option) => below({ ...leaf, path: [...leaf.path, option.name], label: `${leaf.label} ${option.name}`, options: option.options ?? [] }));
}

function drawOptions() {
  const leaf = chosen();
  if (!leaf) return;
  const target = h("label", {}, t("Id of the person or the message"), h("input", { name: "target", required: true, autocomplete: "off" }));
  fill(byId("command-options"), leaf.command.type === IN_CHAT ? leaf.options.map(field) : target);
}

/** @param {Option} option */
function field(option) {
  const name = `option-${option.name}`;
  const required = option.required === true;
  const about = `${option.name}: ${option.description}${required ? "" : ` (${t("may be empty")})`}`;
  const choices = option.type === TRUTH ? [{ name: "true", value: "true" }, { name: "false", value: "false" }] : option.choices;
  if (choices?.length) {
    const rows = choices.map((one) => h("option", { value: String(one.value) }, one.name));
    return h("label", {}, about, h("select", { name, required }, h("option", { value: "" }, "–"), rows));
  }
  const isNumber = option.type === WHOLE || option.type === NUMBER;
  return h("label", {}, about, h("input", { name, required, autocomplete: "off", inputmode: isNumber ? "decimal" : "text" }));
}

/** @param {Leaf} leaf @param {FormData} form */
function dataOf({ command, path, options }, form) {
  if (command.type !== IN_CHAT) return { target_id: form.get("target") };
  /** @type {Filled[]} */
  const filled = options.flatMap((option) => {
    const value = String(form.get(`option-${option.name}`) ?? "");
    return value === "" ? [] : [{ name: option.name, value: valueOf(option, value) }];
  });
  return { options: path.reduceRight((held, name) => [{ name, options: held }], filled) };
}

/** @param {Option} option @param {string} value */
function valueOf({ type }, value) {
  if (type === TRUTH) return value === "true";
  return type === WHOLE || type === NUMBER ? Number(value) : value;
}

async function invoke() {
  const leaf = chosen();
  if (!leaf) return;
  const { id, application_id } = leaf.command;
  const data = { id, ...dataOf(leaf, new FormData(formById("command-form"))) };
  const done = await askAs("POST", "/v1/interactions", { type: 2, application_id, channel_id: inputById("command-channel").value.trim(), data });
  if (done !== undefined) say(t("{name} is invoked.", { name: leaf.label }));
  await draw();
}

async function draw() {
  /** @type {Interaction[] | undefined} */
  const latest = await ask("GET", "/interactions");
  /** @type {{now: string} | undefined} */
  const clock = await ask("GET", "/clock");
  const now = clock?.now;
  if (latest === undefined) return;
  // What waits is drawn anew each time: its clock runs.
  const next = JSON.stringify([latest, latest.some(({ due_at }) => due_at !== null) ? now : null]);
  if (next === drawn) return;
  drawn = next;
  byId("no-interactions").hidden = latest.length > 0;
  fill(byId("interactions"), latest.map((one) => shown(one, Date.parse(now ?? one.created_at))));
}

/** @param {Interaction} one @param {number} now */
function shown(one, now) {
  const about = `${clockTime(one.created_at)} · ${nameOf(one.user_id)} · ${ACTS[one.type] ?? one.type}`;
  const answers = one.answers.map(({ at, method, path, status, body }) => h("div", { class: "part" },
    h("p", {}, h("strong", {}, `${clockTime(at)} ${method} ${status}`), " ", h("code", {}, path.replace(one.token ?? "", "…"))),
    body === null ? null : h("pre", { class: "payload", tabindex: "0", role: "region", "aria-label": `${method} ${clockTime(at)}` }, JSON.stringify(body, null, 2)),
  ));
  return h("article", { class: "panel letter" },
    h("h3", {}, one.name ?? ACTS[one.type] ?? ""),
    h("p", { class: "muted" }, about, " · ", h("strong", {}, stateOf(one, now))),
    h("p", {}, t("Id"), " ", copyable(one.id)),
    h("p", {}, t("Token"), " ", one.token === null ? t("no bot was told of it") : copyable(one.token, `${one.token.slice(0, 16)}…`)),
    answers,
  );
}

/** @param {Interaction} one @param {number} now */
function stateOf({ due_at, answered_with, ends_at }, now) {
  const left = (/** @type {string} */ at) => Math.max(0, Math.ceil((Date.parse(at) - now) / 1000));
  if (due_at !== null) return t("waits, {n} s left", { n: left(due_at) });
  if (answered_with === null) return t("not answered in time");
  const type = t("answered with type {type}", { type: answered_with });
  const token = left(ends_at) > 0 ? t("the token holds for {n} s", { n: left(ends_at) }) : t("the token has ended");
  return [type, token].join(" · ");
}
