// What an invite leads to, and accepting it.

import "./page.js";
import { decoded } from "../client/base/address.js";
import { fill } from "../client/base/dom.js";
import { ApiError, call } from "./api.js";
import { byId, formById, say, showStep } from "./dom.js";
import { onSubmit } from "./forms.js";
import { facts, pictureOf } from "./guild_facts.js";
import { current, signedIn, withNext } from "./session.js";
import { t } from "./spoken.js";

const code = decoded(location.pathname.split("/")[2] ?? "");
const path = /** @type {const} */ (`/v1/invites/${encodeURIComponent(code)}`);

/** @param {import("wire").Answer<"GET", `/v1/invites/${string}`>} invite */
function present(invite) {
  const name = invite.guild?.name ?? invite.channel?.name ?? t("a conversation");
  byId("invite-name").textContent = name;
  document.title = t("Join {name} – {serviceName}", { name, serviceName: document.body.dataset["serviceName"] ?? "" });
  byId("invite-initial").textContent = [...name][0]?.toUpperCase() ?? "";
  if (invite.guild?.icon) {
    const picture = byId("invite-picture", HTMLImageElement);
    picture.src = pictureOf(invite.guild);
    picture.hidden = false;
    byId("invite-initial").hidden = true;
  }
  fill(byId("invite-facts"), facts(invite.member_count, invite.presence_count));
  const old = invite.placeholder?.global_name || invite.placeholder?.username;
  byId("invite-placeholder").textContent = old ? t("You take over the messages of {name}.", { name: old }) : "";
  byId("invite-placeholder").hidden = !old;
  const inviter = invite.inviter?.global_name || invite.inviter?.username;
  byId("invite-by").textContent = inviter ? t("{inviter} invites you to", { inviter }) : t("You are invited to");
}

try {
  present(await call("GET", path));
  const known = current() !== null;
  byId("accept-form").hidden = !known;
  byId("for-strangers").hidden = known;
  byId("invite-sign-in").setAttribute("href", withNext("/login", location.pathname));
  byId("invite-register").setAttribute("href", withNext("/register", location.pathname));
  showStep("step-invite", { focus: false });
  onSubmit(formById("accept-form"), async () => {
    const { guild, channel } = await signedIn("POST", path);
    location.replace(`/channels/${guild?.id ?? "@me"}/${channel?.id ?? ""}`);
  });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  if (error.status !== 404) say(error.message, "bad");
  showStep("step-gone");
}
