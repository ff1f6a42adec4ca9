// What an invite leads to, and accepting it.

import "./page.js";
import { ApiError, call } from "./api.js";
import { byId, fill, h, say, showStep } from "./dom.js";
import { onSubmit } from "./forms.js";
import { current, signedIn, withNext } from "./session.js";

const code = decodeURIComponent(location.pathname.split("/")[2]);
const path = `/v1/invites/${encodeURIComponent(code)}`;

const people = (count) => (count === 1 ? "1 member" : `${count.toLocaleString()} members`);

function present(invite) {
  const name = invite.guild?.name ?? invite.channel?.name ?? "a conversation";
  byId("invite-name").textContent = name;
  document.title = `Join ${name} – ${document.body.dataset.serviceName}`;
  byId("invite-initial").textContent = [...name][0]?.toUpperCase() ?? "";
  const facts = [h("li", {}, people(invite.member_count))];
  if (invite.presence_count > 0) facts.push(h("li", {}, `${invite.presence_count.toLocaleString()} online`));
  fill(byId("invite-facts"), facts);
  const inviter = invite.inviter?.global_name || invite.inviter?.username;
  byId("invite-by").textContent = inviter ? `${inviter} invites you to` : "You are invited to";
  byId("joined-name").textContent = name;
}

try {
  present(await call("GET", path));
  const known = current() !== null;
  byId("accept-form").hidden = !known;
  byId("for-strangers").hidden = known;
  byId("invite-sign-in").setAttribute("href", withNext("/login", location.pathname));
  byId("invite-register").setAttribute("href", withNext("/register", location.pathname));
  showStep("step-invite", { focus: false });
  onSubmit(byId("accept-form"), async () => {
    await signedIn("POST", path, { body: {} });
    showStep("step-joined");
  });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  if (error.status !== 404) say(error.message, "bad");
  showStep("step-gone");
}
