// Requests in the name of any account of the world.

import { exchange } from "./api.js";
import { accounts } from "./dev_parts.js";
import { world } from "./dev_world.js";
import { byId, say } from "./dom.js";
import { t } from "./spoken.js";

export function start() {
  byId("message-channel").value = world?.channel_id ?? "";
  byId("send-message").addEventListener("submit", (event) => {
    event.preventDefault();
    const path = `/v1/channels/${encodeURIComponent(byId("message-channel").value)}/messages`;
    send(byId("message-as").value, "POST", path, { content: byId("message-text").value });
  });
  byId("send-request").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = byId("request-body").value.trim();
    let body;
    try {
      body = text === "" ? undefined : JSON.parse(text);
    } catch (error) {
      say(t("The body is no JSON: {reason}", { reason: error.message }), "bad");
      return;
    }
    send(byId("request-as").value, byId("request-method").value, byId("request-path").value, body);
  });
}

async function send(userId, method, path, body) {
  let status;
  let data;
  try {
    ({ status, data } = await exchange(method, path, { body, token: accounts.get(userId)?.authorization }));
  } catch (error) {
    ({ status } = error);
    data = error.body;
  }
  byId("answer-heading").hidden = false;
  byId("answer-status").textContent = status === 0 ? t("no answer") : `${status} ${method} ${path}`;
  byId("answer").hidden = data === null;
  byId("answer").textContent = data === null ? "" : JSON.stringify(data, null, 2);
}
