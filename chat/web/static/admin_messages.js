// Looking single messages up: by a link, by an identifier, by a file; and what was said around them.

import { fill, h } from "../client/base/dom.js";
import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { accountLink, announce, card, code, facts, fromOutside, inZone, muted, table } from "./admin_parts.js";
import { again, go, results } from "./admin_places.js";
import { ask } from "./admin_session.js";
import { onClick } from "./forms.js";
import { t } from "./spoken.js";

const AROUND = 20;

/** @typedef {import("wire").Message} Message */
/** @typedef {import("wire").Answer<"GET", "/v1/admin/messages">["messages"][number]} Found */

/** @type {[name: string, words: string][]} */
const SELECTORS = [
  ["link", t("Link to a message or a file")],
  ["message_id", t("ID of the message")],
  ["attachment_id", t("ID of a file")],
];

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showMessages({ search, signal }) {
  const name = SELECTORS.find(([one]) => search.has(one))?.[0];
  const found = async () => {
    const query = name === undefined ? {} : { [name]: search.get(name) };
    const { messages } = await ask(READS.message, { query, signal });
    return messages.length === 0 ? muted(t("There is no such message.")) : messages.map((one) => shown(one, signal));
  };
  return {
    title: t("Messages"),
    content: [
      form(name ?? "link", (name && search.get(name)) ?? ""),
      h("div", {}, name === undefined ? muted(t("Each lookup is recorded in the audit log.")) : await results(found)),
    ],
  };
}

/**
 * @param {string} by
 * @param {string} value
 */
function form(by, value) {
  const select = h("select", { id: "message-by", name: "by" }, SELECTORS.map(([name, words]) => h("option", { value: name, selected: name === by }, words)));
  const input = h("input", { id: "message-text", name: "text", type: "search", value, maxlength: "2048", autocomplete: "off", required: true });
  const element = h(
    "form",
    { class: "card search", role: "search", "aria-label": t("Messages") },
    h("div", { class: "field" }, h("label", { for: "message-by" }, t("Look by")), select),
    h("div", { class: "field" }, h("label", { for: "message-text" }, t("Look for")), input),
    h("button", { type: "submit", class: "primary" }, t("Look up")),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("/admin/messages", { [select.value]: input.value.trim() });
  });
  return element;
}

const author = (/** @type {Message} */ { author: one }) => accountLink(one.id, one.username ? one : null);
const words = (/** @type {Message} */ message) => h("span", { class: "reason from-outside" }, message.content || "–");

/**
 * @param {Found} found
 * @param {AbortSignal} signal
 */
function shown({ channel, message }, signal) {
  const around = h("div", {});
  const button = h("button", { type: "button" }, t("Show what was said around it"));
  const show = async () => {
    const { messages } = await ask(READS.messages, { params: { channel_id: channel.id }, query: { around: message.id, limit: AROUND }, signal });
    /** @type {[string, (one: Message) => import("../client/base/dom.js").Child][]} */
    const columns = [
      [t("When"), (one) => inZone(one.timestamp)],
      [t("By"), author],
      [t("Says"), (one) => (one.id === message.id ? h("strong", {}, words(one)) : words(one))],
    ];
    fill(around, h("h3", {}, t("Around it")), table(t("Around the message"), columns, [...messages].reverse()));
  };
  onClick(button, show, (error) => announce(error.message, "bad"));
  const context = { params: { channel_id: channel.id, message_id: message.id } };
  const files = message.attachments.map((file) => h("li", {}, fromOutside(file.filename)));
  return card(
    t("Message"),
    facts(
      [t("By"), author(message)],
      [t("Says"), words(message)],
      files.length > 0 ? [t("Files"), h("ul", { class: "plainly" }, files)] : null,
      [t("Sent"), inZone(message.timestamp)],
      message.edited_timestamp ? [t("Edited"), inZone(message.edited_timestamp)] : null,
      [t("Channel"), [channel.name ? fromOutside(channel.name) : t("a conversation"), " ", code(channel.id)]],
      [t("Message ID"), code(message.id)],
    ),
    h("div", { class: "buttons" }, button, actionButton("deleteMessage", OTHER_ACTIONS.deleteMessage, context, again)),
    around,
  );
}
