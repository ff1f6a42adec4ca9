// Gateway sessions, what can be done to them, and the state of the node.

import { act, ask, number } from "./dev_api.js";
import { accounts, copyable, nameOf, options, table } from "./dev_parts.js";
import { byId, h, say } from "./dom.js";
import { plural, t } from "./spoken.js";

const POLL_MS = 2_000;
const TAKES = { close: ["code", "reason"], stall: ["ms"], delay: ["ms", "jitter_ms"] };

let drawn = "";

export function start() {
  for (const button of document.querySelectorAll("[data-fault]")) {
    button.addEventListener("click", () => strike(button.dataset.fault));
  }
  byId("http-fault").addEventListener("submit", refuse);
  byId("node").addEventListener("change", (event) => node({ [event.target.name]: event.target.checked }));
  setInterval(() => {
    if (!byId("faults").hidden && !document.hidden) look();
  }, POLL_MS);
}

export async function look() {
  const sessions = await ask("GET", "/sessions");
  if (sessions === undefined) return;
  const now = JSON.stringify(sessions);
  if (now === drawn) return;
  drawn = now;
  byId("no-sessions").hidden = sessions.length > 0;
  table(byId("sessions"), [t("Account"), t("Session"), t("Shard"), t("Sequence"), t("Kept"), t("Socket"), t("Status"), h("span", { class: "unseen" }, t("Actions"))],
    sessions.map((session) => [
      nameOf(session.user_id), copyable(session.id, session.id.slice(0, 12)), session.shard === null ? "–" : session.shard.join(" / "),
      String(session.sequence), String(session.retained_dispatches), session.attached ? session.address : t("none"), session.status,
      h("button", { type: "button", class: "small", click: () => target(session.id) }, t("Choose")),
    ]));
  options(byId("fault-target"), [
    ["all", t("Everybody")],
    ...[...accounts.values()].map((account) => [`user:${account.id}`, account.name]),
    ...sessions.map((session) => [`session:${session.id}`, `${nameOf(session.user_id)} · ${session.id.slice(0, 12)}`]),
  ]);
  await node({});
}

function target(sessionId) {
  byId("fault-target").value = `session:${sessionId}`;
  byId("fault-target").focus();
}

async function strike(action) {
  const [kind, id] = byId("fault-target").value.split(":");
  const given = { code: number("fault-code"), reason: byId("fault-reason").value, ms: number("fault-ms"), jitter_ms: number("fault-jitter") };
  const members = Object.fromEntries((TAKES[action] ?? []).map((name) => [name, given[name]]));
  const whom = id === undefined ? "all" : { [`${kind}_id`]: id };
  const answer = await ask("POST", "/faults", { action, target: whom, ...members });
  if (answer !== undefined) say(plural(answer.affected, "Done, to {n} of them.", "Done, to {n} of them."));
  await look();
}

async function refuse(event) {
  event.preventDefault();
  const fault = {
    action: "http",
    status: number("http-status"),
    times: number("http-times"),
    method: byId("http-method").value || undefined,
    path: byId("http-path").value || undefined,
    code: byId("http-code").value || undefined,
    retry_after: number("http-retry"),
  };
  await act(t("The next requests of this kind are refused."), "POST", "/faults", fault);
}

async function node(change) {
  const state = await ask("POST", "/gateway", change);
  if (state === undefined) return;
  for (const box of byId("node").querySelectorAll("input")) box.checked = state[box.name];
}
