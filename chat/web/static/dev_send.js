// Requests in the name of any account of the world.

import { ApiError, exchange } from "./api.js";
import { accounts } from "./dev_parts.js";
import { world } from "./dev_world.js";
import { byId, formById, inputById, say } from "./dom.js";
import { t } from "./spoken.js";

export function start() {
  inputById("message-channel").value = world?.channel_id ?? "";
  formById("send-message").addEventListener("submit", (event) => {
    event.preventDefault();
    const path = `/v1/channels/${encodeURIComponent(inputById("message-channel").value)}/messages`;
    send(byId("message-as", HTMLSelectElement).value, "POST", path, { content: inputById("message-text").value });
  });
  formById("send-request").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = byId("request-body", HTMLTextAreaElement).value.trim();
    let body;
    try {
      body = text === "" ? undefined : JSON.parse(text);
    } catch (error) {
      say(t("The body is no JSON: {reason}", { reason: /** @type {Error} */ (error).message }), "bad");
      return;
    }
    send(byId("request-as", HTMLSelectElement).value, byId("request-method", HTMLSelectElement).value, inputById("request-path").value, body);
  });
}

/**
 * @param {string} userId
 * @param {string} method
 * @param {string} path
 * @param {unknown} body
 */
async function send(userId, method, path, body) {
  let status;
  let data;
  try {
    ({ status, data } = await exchange(method, path, { body, token: accounts.get(userId)?.authorization ?? null }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ({ status } = error);
    data = error.body;
  }
  byId("answer-heading").hidden = false;
  byId("answer-status").textContent = status === 0 ? t("no answer") : `${status} ${method} ${path}`;
  byId("answer").hidden = data === null;
  byId("answer").textContent = data === null ? "" : JSON.stringify(data, null, 2);
}
