// Signing out of this browser, after a question.

import { signOut } from "../../../static/session.js";
import { h } from "../../base/dom.js";
import { storage } from "../../base/storage.js";
import { t } from "../../words/catalogue.js";
import { endPush } from "./push.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {{app: App}} parts */
export function open({ app }) {
  app.layers.dialog({
    title: t("sessions.sign_out_title"),
    content: h("p", { class: "muted" }, t("sessions.sign_out_words")),
    actions: [{ label: t("sessions.sign_out"), run: () => leaveHere(app) }],
  });
}

/**
 * Signs out here; nothing of the account stays in this browser.
 * @param {App} app
 */
async function leaveHere(app) {
  await endPush(app).catch(() => null);
  for (const key of await storage.keys("")) await storage.remove(key);
  await signOut();
  location.replace("/login");
}
