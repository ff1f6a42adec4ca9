// What applications may do in the account's name.

import { fill, h } from "../client/base/dom.js";
import { byId, say, when } from "./dom.js";
import { complainingIn, confirmed } from "./dialogs.js";
import { onClick } from "./forms.js";
import { signedIn } from "./session.js";
import { t, tn } from "./spoken.js";
import { SCOPES } from "./words.js";

const PATH = "/v1/oauth2/@me/authorizations";

const section = byId("applications");

export async function showApplications() {
  const authorizations = await signedIn("GET", PATH);
  fill(byId("application-list"), authorizations.map(row));
  byId("applications-none").hidden = authorizations.length > 0;
}

/** @param {import("wire").Authorization} authorization */
function row({ application, scopes, authorized_at: since }) {
  const button = h("button", { type: "button", class: "danger", "aria-label": t("Take back {name}", { name: application.name }) }, t("Take back"));
  onClick(
    button,
    async () => {
      await confirmed({
        title: t("Take back what {name} may do?", { name: application.name }),
        text: t("It loses its access at once. A bot that it added to a community stays there."),
        action: t("Take back"),
      });
      await signedIn("DELETE", `${PATH}/${encodeURIComponent(application.id)}`);
      await showApplications();
      say(t("{name} has no access to your account any more.", { name: application.name }), "good", section);
      byId("applications-heading").focus();
    },
    complainingIn(section),
  );
  return h(
    "li",
    {},
    h(
      "div",
      { class: "what" },
      h("strong", { class: "from-outside" }, application.name),
      h("p", { class: "muted" }, scopes.map((scope) => SCOPES[scope] ?? scope).join(" · ")),
      since ? h("p", { class: "muted" }, tn("Since {time}", { time: when(since) })) : null,
    ),
    h("div", { class: "buttons" }, button),
  );
}
