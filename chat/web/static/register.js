// A new account, signed in at once.

import "./page.js";
import { byId, findById, showStep } from "./dom.js";
import { offerToRegister } from "./registering.js";
import { nextPath, withNext } from "./session.js";

const next = new URLSearchParams(location.search).get("next");
for (const link of document.querySelectorAll("a[data-keeps-next]")) {
  link.setAttribute("href", withNext(link.getAttribute("href") ?? "", next));
}

const form = findById("register-form", HTMLFormElement);
if (form) {
  offerToRegister(form, (address) => {
    if (address === "" || document.body.dataset["hasMail"] === "no") return location.replace(nextPath());
    byId("sent-to").textContent = address;
    byId("go-on").setAttribute("href", nextPath());
    showStep("step-verify");
    return null;
  });
}
