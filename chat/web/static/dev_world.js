// Who and what is there, with what signs in; snapshots, crowds, and the way back.

import { fill, h } from "../client/base/dom.js";
import { act, ask, number } from "./dev_api.js";
import { accounts, bytes, copyable, know, options, table } from "./dev_parts.js";
import { byId, formById, inputById, say, when } from "./dom.js";
import { plural, t } from "./spoken.js";

/** @typedef {import("./dev_parts.js").World} World */

/** @type {World | undefined} */
export let world;

export async function start() {
  world = await ask("GET", "/world");
  if (world === undefined) return;
  know(world);
  show(world);
  formById("snapshot-form").addEventListener("submit", take);
  formById("crowd").addEventListener("submit", gather);
  formById("reset").addEventListener("submit", reset);
}

/** @param {World} world */
function show(world) {
  const everybody = [...accounts.values()];
  table(byId("accounts", HTMLTableElement), [t("Account"), t("Id"), t("Token"), t("Email"), t("Password")],
    everybody.map((account) => [
      account.name, copyable(account.id), copyable(account.token, `${account.token.slice(0, 14)}…`),
      account.email ? copyable(account.email) : "–", account.password ? copyable(account.password, "••••••••") : "–",
    ]));
  table(byId("ids", HTMLTableElement), [t("What"), t("Value")], [
    [t("HTTP API"), copyable(world.base_url)], [t("Gateway"), copyable(world.gateway_url)],
    [t("Guild"), copyable(world.guild_id)], [t("Text channel"), copyable(world.channel_id)], [t("Voice channel"), copyable(world.voice_channel_id)],
    [t("Application"), copyable(world.bot.application_id)], [t("Client secret"), copyable(world.bot.client_secret, "••••••••")], [t("Admin API key"), copyable(world.admin_key, `${world.admin_key.slice(0, 14)}…`)],
  ]);
  const selects = /** @type {NodeListOf<HTMLSelectElement>} */ (document.querySelectorAll("[data-accounts], #crowd-user"));
  for (const select of selects) {
    options(select, everybody.map(({ id, name }) => /** @type {const} */ ([id, name])));
    // The owner of the guild sees most.
    select.value = world.users[0]?.id ?? "";
  }
}

export async function look() {
  /** @type {{name: string, created_at: string, bytes: number}[] | undefined} */
  const snapshots = await ask("GET", "/snapshots");
  if (snapshots === undefined) return;
  fill(byId("snapshots"), snapshots.map((snapshot) => h("li", {},
    h("span", { class: "grow" }, h("strong", {}, snapshot.name), h("span", { class: "muted" }, " ", when(snapshot.created_at), ` · ${bytes(snapshot.bytes)}`)),
    h("button", { type: "button", class: "small", click: () => goBack(snapshot.name) }, t("Go back")),
    h("button", { type: "button", class: "small", "aria-label": t("Delete {name}", { name: snapshot.name }), click: () => forget(snapshot.name) }, t("Delete")),
  )));
}

/** @param {SubmitEvent} event */
async function take(event) {
  event.preventDefault();
  const name = inputById("snapshot-name").value;
  if (await act(t("The world is kept as {name}.", { name }), "PUT", `/snapshots/${encodeURIComponent(name)}`) === undefined) return;
  inputById("snapshot-name").value = "";
  await look();
}

/** @param {string} name */
async function goBack(name) {
  await act(t("The world is as it was in {name}.", { name }), "POST", `/snapshots/${name}/restore`);
}

/** @param {string} name */
async function forget(name) {
  await act(t("{name} is deleted.", { name }), "DELETE", `/snapshots/${name}`);
  await look();
}

/** @param {SubmitEvent} event */
async function gather(event) {
  event.preventDefault();
  say(t("One moment …"));
  const body = { user_id: byId("crowd-user", HTMLSelectElement).value, count: number("crowd-count"), members: number("crowd-members"), channels: number("crowd-channels") };
  /** @type {{guild_ids: string[]} | undefined} */
  const made = await ask("POST", "/guilds/bulk", body);
  if (made !== undefined) say(plural(made.guild_ids.length, "{n} guild is there: {ids}", "{n} guilds are there: {ids}", { ids: made.guild_ids.slice(0, 3).join(", ") }));
}

/** @param {SubmitEvent} event */
async function reset(event) {
  event.preventDefault();
  const button = event.submitter;
  if (!button) return;
  // The second press within a while means it.
  if (!button.classList.contains("sure")) {
    button.classList.add("sure");
    button.textContent = t("Press again to reset");
    setTimeout(() => calm(button), 5_000);
    return;
  }
  calm(button);
  await act(t("The world is as it was at the beginning."), "POST", "/reset");
}

/** @param {HTMLElement} button */
function calm(button) {
  button.classList.remove("sure");
  button.textContent = t("Reset the world");
}
