// What applications may do in the account's name.

import { byId, fill, h, say, when } from "./dom.js";
import { Cancelled, confirmed } from "./dialogs.js";
import { onClick } from "./forms.js";
import { signedIn } from "./session.js";
import { SCOPES } from "./words.js";

const PATH = "/v1/oauth2/@me/authorizations";

const section = byId("applications");

export async function showApplications() {
  const authorizations = await signedIn("GET", PATH);
  fill(byId("application-list"), authorizations.map(row));
  byId("applications-none").hidden = authorizations.length > 0;
}

function row({ application, scopes, authorized_at: since }) {
  const button = h("button", { type: "button", class: "danger", "aria-label": `Take back ${application.name}` }, "Take back");
  onClick(
    button,
    async () => {
      await confirmed({
        title: `Take back what ${application.name} may do?`,
        text: "It loses its access at once. A bot that it added to a community stays there.",
        action: "Take back",
      });
      await signedIn("DELETE", `${PATH}/${encodeURIComponent(application.id)}`);
      await showApplications();
      say(`${application.name} has no access to your account any more.`, "good", section);
      byId("applications-heading").focus();
    },
    (error) => say(error.message, error instanceof Cancelled ? "good" : "bad", section),
  );
  return h(
    "li",
    {},
    h(
      "div",
      { class: "what" },
      h("strong", { class: "from-outside" }, application.name),
      h("p", { class: "muted" }, scopes.map((scope) => SCOPES[scope] ?? scope).join(" · ")),
      since ? h("p", { class: "muted" }, "Since ", when(since)) : null,
    ),
    h("div", { class: "buttons" }, button),
  );
}
