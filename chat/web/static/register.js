// A new account, signed in at once.

import "./page.js";
import { call } from "./api.js";
import { captchaHeaders } from "./captcha.js";
import { byId, showStep } from "./dom.js";
import { onSubmit } from "./forms.js";
import { nextPath, withNext } from "./session.js";
import { signingIn } from "./signing_in.js";

const next = new URLSearchParams(location.search).get("next");
for (const link of document.querySelectorAll("a[data-keeps-next]")) {
  link.setAttribute("href", withNext(link.getAttribute("href"), next));
}

const form = byId("register-form");
if (form) {
  let address = "";
  const { attempt } = signingIn({
    stays: () => true,
    done: () => {
      if (address === "" || document.body.dataset.hasMail === "no") return location.replace(nextPath());
      byId("sent-to").textContent = address;
      byId("go-on").setAttribute("href", nextPath());
      showStep("step-verify");
      return null;
    },
  });
  onSubmit(form, async ({ email, username, global_name, password }) => {
    address = email?.trim() ?? "";
    const body = { password, consent: true };
    if (address !== "") body.email = address;
    if (username.trim() !== "") body.username = username.trim();
    if (global_name.trim() !== "") body.global_name = global_name.trim();
    const more = await captchaHeaders();
    return attempt(() => call("POST", "/v1/auth/register", { body, more }));
  });

  const name = form.elements.global_name;
  const username = form.elements.username;
  name.addEventListener("change", async () => {
    if (name.value.trim() === "" || username.value !== "") return;
    const body = { global_name: name.value.trim() };
    const answer = await call("POST", "/v1/auth/username-suggestions", { body }).catch(() => null);
    if (username.value === "" && answer?.suggestions?.length > 0) username.value = answer.suggestions[0];
  });
}
