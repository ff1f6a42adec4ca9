// Calls that ring: who calls, and what the person does about it. It lies above the client and blocks nothing of it.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { keyed } from "../../base/keyed.js";
import { callerOf, ringingCalls } from "../../store/calls.js";
import { callerName, enterCall } from "../../views/names/calls.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { avatarAddress } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";
import { makeRinging } from "./ringing.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Call} Call */

const GROUP = 3;
/** @type {WeakMap<App, {draw: () => void}>} */
const SHOWN = new WeakMap();

/** @param {{app: App}} parts */
export function open({ app }) {
  const shown = SHOWN.get(app) ?? makeIncoming(app);
  SHOWN.set(app, shown);
  shown.draw();
}

/** @param {App} app */
function makeIncoming(app) {
  const { store, acts } = app;
  const element = h("div", { class: "incoming-calls" });
  const ringing = makeRinging(app);
  /** @type {Set<string>} Channels whose calls were answered here, until the server says so to all. */
  const answered = new Set();

  function draw() {
    const all = ringingCalls(store.read);
    for (const id of answered) if (!all.some((call) => call.channel_id === id)) answered.delete(id);
    const calls = all.filter((call) => !answered.has(call.channel_id));
    ringing.show(calls);
    const hadFocus = element.contains(document.activeElement);
    keyed(element, calls, ({ channel_id: id }) => id, make, update);
    settle();
    if (hadFocus && !element.contains(document.activeElement)) document.getElementById("talk")?.focus();
  }

  /** What lies below a dialog that blocks the client cannot be pressed: it is a part of that dialog meanwhile. */
  function settle() {
    const host = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
    if (element.childElementCount === 0) element.remove();
    else if (element.parentElement !== host) host.prepend(element);
  }

  /** @param {Call} call */
  function make(call) {
    const id = call.channel_id;
    const item = h("section", { class: "incoming", role: "dialog", tabindex: "-1", "data-region": "" });
    item.setAttribute("aria-labelledby", `incoming-name-${id}`);
    item.setAttribute("aria-describedby", `incoming-words-${id}`);
    item.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      decline(id);
    });
    const face = h("span", { class: "incoming-face" });
    const name = h("h2", { class: "clip", id: `incoming-name-${id}` });
    const words = h("p", { class: "small muted clip", id: `incoming-words-${id}` });
    const buttons = h(
      "div",
      { class: "incoming-buttons" },
      button("phone", t("call.accept"), "primary", () => accept(id, false)),
      button("camera", t("call.accept_video"), "", () => accept(id, true)),
      button("hang-up", t("call.decline"), "danger", () => decline(id)),
    );
    item.append(face, h("div", { class: "incoming-words" }, name, words), buttons);
    update(item, call);
    app.announce(t("call.is_calling", { name: callerName(app, id) }));
    return item;
  }

  /** @param {Element} item @param {Call} call */
  function update(item, { channel_id: id }) {
    const { read } = store;
    const caller = callerOf(read, id);
    const channel = read.channels.get(id);
    const group = channel?.type === GROUP ? nameOfChannel(read, channel) : null;
    const look = JSON.stringify([callerName(app, id), group, read.users.get(caller ?? "")?.avatar]);
    const card = /** @type {HTMLElement} */ (item);
    if (card.dataset["look"] === look) return;
    card.dataset["look"] = look;
    const picture = h("img", { class: "avatar", alt: "", width: "48", height: "48" });
    if (caller !== null) picture.src = avatarAddress(read.users.get(caller) ?? { id: caller, avatar: null }, 80);
    item.querySelector(".incoming-face")?.replaceChildren(caller === null ? icon("friends") : picture);
    item.querySelector("h2")?.replaceChildren(h("bdi", {}, callerName(app, id)));
    const words = group === null ? t("call.incoming") : t("call.incoming_in", { group });
    item.querySelector("p")?.replaceChildren(words);
  }

  /** @param {string} id @param {boolean} withCamera */
  function accept(id, withCamera) {
    answered.add(id);
    draw();
    app.go(`/channels/@me/${id}`);
    enterCall(app, id, { withCamera, isAnswer: true });
  }

  /** @param {string} id */
  function decline(id) {
    answered.add(id);
    draw();
    acts.calls.decline(id).catch((error) => {
      answered.delete(id);
      draw();
      app.report(error);
    });
  }

  // Dialogs open above it and close below it.
  for (const event of ["close", "toggle"]) document.addEventListener(event, settle, true);
  return { draw };
}

/** @param {string} sign @param {string} label @param {string} kind @param {() => void} click */
function button(sign, label, kind, click) {
  return h("button", { type: "button", class: `button ${kind}`.trim(), click }, icon(sign), h("span", {}, label));
}
