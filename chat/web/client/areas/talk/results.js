// Messages that were found or kept: each leads to its place.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { makeRow } from "../../views/messages/row.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { nameOf } from "../../views/names/people.js";
import { dayLine } from "../../words/dates.js";
import { mark } from "./marking.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/**
 * @param {App} app
 * @param {import("wire").Message[]} messages
 * @param {() => void} close What lies above the talk, before it goes there.
 * @param {string} [wanted] Words that were searched for.
 */
export function resultList(app, messages, close, wanted = "") {
  const list = h("ol", { class: "results" });
  for (const message of messages) list.append(result(app, message, close, wanted));
  return list;
}

/**
 * @param {App} app
 * @param {import("wire").Message} message
 * @param {() => void} close
 * @param {string} wanted
 */
function result(app, message, close, wanted) {
  const { store } = app;
  const channel = store.read.channels.get(message.channel_id);
  const guildId = channel?.guild_id ?? null;
  const place = { store, guildId };
  const row = makeRow(place);
  row.show({ key: message.id, message, before: undefined, isUnread: false, sending: null, isAlone: true });
  for (const part of row.article.querySelectorAll(".text, .system, .embed")) mark(part, wanted);
  const path = `/channels/${guildId ?? "@me"}/${message.channel_id}/${message.id}`;
  const link = h("a", { class: "result-link", href: path });
  link.setAttribute("aria-label", t("results.show", { name: nameOf(place, message.author) }));
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    close();
    app.go(path);
  });
  const name = channel ? [h("bdi", {}, `${guildId ? "#" : ""}${nameOfChannel(store.read, channel)}`), " \u00b7 "] : [];
  const where = h("p", { class: "meta" }, ...name, dayLine(Date.parse(message.timestamp)));
  const shown = h("ul", { inert: "", class: "rows" }, row.element);
  return h("li", { class: "result" }, where, shown, link);
}
