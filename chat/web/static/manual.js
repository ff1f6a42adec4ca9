// A page of the manual: contents that fold away where there is little room, code that can be copied, and the search.

import "./page.js";
import { h } from "../client/base/dom.js";
import { copied } from "./copying.js";
import { byId } from "./dom.js";
import "./manual_search.js";
import "./manual_try.js";
import { t } from "./spoken.js";

const SAID_MS = 2_000;

const contents = byId("manual-contents", HTMLDetailsElement);
const roomy = matchMedia("(min-width: 62rem)");
contents.open = roomy.matches;
roomy.addEventListener("change", () => {
  contents.open = roomy.matches;
});
contents.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

for (const code of document.querySelectorAll("pre.code")) {
  const button = h("button", { type: "button" }, t("Copy"));
  button.addEventListener("click", async () => {
    [button.textContent] = await copied(code.textContent ?? "", t("Copied"));
    setTimeout(() => {
      button.textContent = t("Copy");
    }, SAID_MS);
  });
  const frame = h("div", { class: "code-frame" });
  code.replaceWith(frame);
  frame.append(code, button);
}
