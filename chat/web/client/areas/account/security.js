// How one signs in: what the account has for it, and where each is changed.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { card } from "../../views/settings/fields.js";
import { t } from "../../words/catalogue.js";

/** @param {import("../../views/shell/app.js").App} app */
export function makeSecurity({ store }) {
  const me = store.read.users.get(store.read.session.me);
  const byName = document.body.dataset["signIn"] === "username";
  /** @type {number[]} */
  const factors = me?.["authenticator_types"] ?? [];
  const state = factors.length > 0 ? t("security.factor_on") : t("security.factor_off");
  const parts = [
    row(t("security.password"), t("security.password_words"), "password"),
    row(t("security.factor"), state, "authenticator"),
    row(t("security.passkeys"), t("security.passkeys_words"), "passkeys"),
    ...(byName
      ? [row(t("security.kit"), t("security.kit_words"), "kit")]
      : [row(t("security.mail"), me?.["email"] ?? t("security.no_mail"), "profile")]),
    row(t("security.programs"), t("security.programs_words"), "applications"),
  ];
  const list = h("ul", { class: "settings-rows" }, ...parts);
  return { element: h("div", { class: "settings-cards" }, card(t("security.ways"), t("security.words"), list)) };
}

/** @param {string} title @param {string} words @param {string} place */
function row(title, words, place) {
  const text = h("div", { class: "settings-row-words" }, h("h3", {}, title), h("p", { class: "small muted" }, words));
  const label = t("security.change_one", { title });
  const link = h("a", { class: "button", href: `/settings#${place}`, "aria-label": label });
  link.append(t("security.change"), icon("chevron-forward"));
  return h("li", { class: "settings-row" }, text, link);
}
