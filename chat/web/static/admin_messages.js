// Looking single messages up: by a link, by an identifier, by a file; and what was said around them.

import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { accountLink, announce, card, code, facts, fromOutside, inZone, muted, table } from "./admin_parts.js";
import { again, go, results } from "./admin_places.js";
import { ask } from "./admin_session.js";
import { fill, h } from "./dom.js";
import { onClick } from "./forms.js";
import { t } from "./spoken.js";

const AROUND = 20;

const SELECTORS = [
  ["link", t("Link to a message or a file")],
  ["message_id", t("ID of the message")],
  ["attachment_id", t("ID of a file")],
];

export async function showMessages({ search, signal }) {
  const [name] = SELECTORS.find(([one]) => search.has(one)) ?? [null];
  const found = async () => {
    const { messages } = await ask(READS.message, { query: { [name]: search.get(name) }, signal });
    return messages.length === 0 ? muted(t("There is no such message.")) : messages.map((one) => shown(one, signal));
  };
  return {
    title: t("Messages"),
    content: [
      form(name ?? "link", name === null ? "" : search.get(name)),
      h("div", {}, name === null ? muted(t("Each lookup is recorded in the audit log.")) : await results(found)),
    ],
  };
}

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

const author = (message) => (message.author ? accountLink(message.author.id, message.author.username ? message.author : null) : "–");
const words = (message) => h("span", { class: "reason from-outside" }, message.content || "–");

function shown({ channel, message }, signal) {
  const around = h("div", {});
  const button = h("button", { type: "button" }, t("Show what was said around it"));
  const show = async () => {
    const { messages } = await ask(READS.messages, { params: { channel_id: channel.id }, query: { around: message.id, limit: AROUND }, signal });
    const columns = [
      [t("When"), (one) => inZone(one.timestamp)],
      [t("By"), author],
      [t("Says"), (one) => (one.id === message.id ? h("strong", {}, words(one)) : words(one))],
    ];
    fill(around, h("h3", {}, t("Around it")), table(t("Around the message"), columns, [...messages].reverse()));
  };
  onClick(button, show, (error) => announce(error.message, "bad"));
  const context = { params: { channel_id: channel.id, message_id: message.id } };
  const files = (message.attachments ?? []).map((file) => h("li", {}, fromOutside(file.filename)));
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
