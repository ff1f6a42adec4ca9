// A file to choose, in the words of the client: browsers say theirs in the language of the browser.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../names/people.js";

/**
 * @param {string} id
 * @param {string} label
 * @param {string} accept
 */
export function fileField(id, label, accept) {
  const input = h("input", { type: "file", id, accept, hidden: "" });
  const chosen = h("bdi", { class: "small muted clip", role: "status" }, t("file.none"));
  const button = h("button", { type: "button", class: "button", "aria-label": t("file.choose_for", { label }) });
  button.append(t("file.choose"));
  button.addEventListener("click", () => input.click());
  const show = () => (chosen.textContent = input.files?.[0] ? plainName(input.files[0].name) : t("file.none"));
  input.addEventListener("change", show);
  const element = h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    h("div", { class: "file-field" }, button, input, chosen),
  );
  return { element, input, show };
}
