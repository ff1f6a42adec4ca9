// Gateway sessions, what can be done to them, and the state of the node.

import { h } from "../client/base/dom.js";
import { act, ask, number } from "./dev_api.js";
import { accounts, copyable, nameOf, options, table } from "./dev_parts.js";
import { byId, formById, inputById, say } from "./dom.js";
import { plural, t } from "./spoken.js";

const POLL_MS = 2_000;
/**
 * @typedef {object} Session
 * @property {string} id
 * @property {string} user_id
 * @property {[number, number] | null} shard
 * @property {number} sequence
 * @property {number} retained_dispatches
 * @property {boolean} attached
 * @property {string} address
 * @property {string} status
 */
/** @typedef {Record<string, unknown>} NodeState By the names of its boxes. */

/** @type {Record<string, string[]>} */
const TAKES = { close: ["code", "reason"], stall: ["ms"], delay: ["ms", "jitter_ms"] };

let drawn = "";

export function start() {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-fault]"))) {
    button.addEventListener("click", () => strike(button.dataset["fault"] ?? ""));
  }
  formById("http-fault").addEventListener("submit", refuse);
  byId("node").addEventListener("change", ({ target: box }) => {
    if (box instanceof HTMLInputElement) void node({ [box.name]: box.checked });
  });
  setInterval(() => {
    if (!byId("faults").hidden && !document.hidden) void look();
  }, POLL_MS);
}

export async function look() {
  /** @type {Session[] | undefined} */
  const sessions = await ask("GET", "/sessions");
  if (sessions === undefined) return;
  const now = JSON.stringify(sessions);
  if (now === drawn) return;
  drawn = now;
  byId("no-sessions").hidden = sessions.length > 0;
  table(byId("sessions", HTMLTableElement), [t("Account"), t("Session"), t("Shard"), t("Sequence"), t("Kept"), t("Socket"), t("Status"), h("span", { class: "unseen" }, t("Actions"))],
    sessions.map((session) => [
      nameOf(session.user_id), copyable(session.id, session.id.slice(0, 12)), session.shard === null ? "–" : session.shard.join(" / "),
      String(session.sequence), String(session.retained_dispatches), session.attached ? session.address : t("none"), session.status,
      h("button", { type: "button", class: "small", click: () => target(session.id) }, t("Choose")),
    ]));
  /** @type {[string, string][]} */
  const whom = [
    ["all", t("Everybody")],
    ...[...accounts.values()].map((account) => /** @type {[string, string]} */ ([`user:${account.id}`, account.name])),
    ...sessions.map(({ id, user_id: user }) => /** @type {[string, string]} */ ([`session:${id}`, `${nameOf(user)} · ${id.slice(0, 12)}`])),
  ];
  options(targets(), whom);
  await node({});
}

const targets = () => byId("fault-target", HTMLSelectElement);

/** @param {string} sessionId */
function target(sessionId) {
  targets().value = `session:${sessionId}`;
  targets().focus();
}

/** @param {string} action */
async function strike(action) {
  const [kind, id] = targets().value.split(":");
  /** @type {Record<string, unknown>} */
  const given = { code: number("fault-code"), reason: inputById("fault-reason").value, ms: number("fault-ms"), jitter_ms: number("fault-jitter") };
  const members = Object.fromEntries((TAKES[action] ?? []).map((name) => [name, given[name]]));
  const whom = id === undefined ? "all" : { [`${kind}_id`]: id };
  /** @type {{affected: number} | undefined} */
  const answer = await ask("POST", "/faults", { action, target: whom, ...members });
  if (answer !== undefined) say(plural(answer.affected, "Done, to {n} of them.", "Done, to {n} of them."));
  await look();
}

/** @param {SubmitEvent} event */
async function refuse(event) {
  event.preventDefault();
  const fault = {
    action: "http",
    status: number("http-status"),
    times: number("http-times"),
    method: inputById("http-method").value || undefined,
    path: inputById("http-path").value || undefined,
    code: inputById("http-code").value || undefined,
    retry_after: number("http-retry"),
  };
  await act(t("The next requests of this kind are refused."), "POST", "/faults", fault);
}

/** @param {NodeState} change */
async function node(change) {
  /** @type {NodeState | undefined} */
  const state = await ask("POST", "/gateway", change);
  if (state === undefined) return;
  for (const box of byId("node").querySelectorAll("input")) box.checked = Boolean(state[box.name]);
}
