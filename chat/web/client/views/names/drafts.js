// Where something is written that was not sent.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";

export function draftSign() {
  const name = t("channels.draft");
  return h("span", { class: "draft-sign", role: "img", "aria-label": name, title: name }, icon("edit"));
}
