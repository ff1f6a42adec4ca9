// Leaving: for a while, or for good.

import { current, forget } from "../../../static/session.js";
import { h } from "../../base/dom.js";
import { storage } from "../../base/storage.js";
import { card } from "../../views/settings/fields.js";
import { t } from "../../words/catalogue.js";
import { proved } from "../../views/settings/proof.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {App} app */
export function makeLeaving(app) {
  const acts = app.acts.accountSettings;

  /** @param {"disable" | "delete"} way @param {{title: string, words: string, action: string}} question */
  function ask(way, { title, words, action }) {
    app.layers.dialog({
      title,
      content: h("p", { class: "muted" }, words),
      actions: [{ label: action, kind: "danger", run: () => void setTimeout(() => close(way).catch(app.report)) }],
    });
  }

  /** @param {"disable" | "delete"} way */
  async function close(way) {
    if (!(await proved(app, (proof) => acts.close(way, proof)))) return;
    for (const key of await storage.keys("")) await storage.remove(key);
    // The connection, which ends with the account, may have led to the sign-in already.
    if (current() === null) return;
    forget();
    location.replace("/login");
  }

  const action = t("leaving.disable");
  const disable = { title: t("leaving.disable_title"), words: t("leaving.disable_words"), action };
  const erase = { title: t("leaving.delete_title"), words: t("leaving.delete_words"), action: t("leaving.delete") };
  const element = h(
    "div",
    { class: "settings-cards" },
    card(t("leaving.disable_card"), disable.words, buttons(action, () => ask("disable", disable))),
    card(t("leaving.delete_card"), erase.words, buttons(erase.action, () => ask("delete", erase))),
  );
  return { element };
}

/** @param {string} label @param {() => void} press */
function buttons(label, press) {
  return h("div", { class: "buttons" }, h("button", { type: "button", class: "button danger", click: press }, label));
}
