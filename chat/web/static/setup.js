// The first run: whoever opens the set-up link makes the administrator's account, names the instance and makes the first
// community. The link's token is kept for this tab alone until it is used, so that signing in does not lose it.

import "./page.js";
import { ApiError } from "./api.js";
import { byId, say, showStep, takeFragmentToken } from "./dom.js";
import { onSubmit } from "./forms.js";
import { offerToRegister } from "./registering.js";
import { current, signedIn, signOut } from "./session.js";
import { t } from "./spoken.js";

const KEY = "setup-token";
const TEXT_CHANNEL = 0;
const WRONG_LINK = t("This is not the set-up link of this server. Open the one that it printed when it last started.");

const isOpen = byId("step-link") !== null;

function keepToken() {
  const given = takeFragmentToken();
  if (given) sessionStorage.setItem(KEY, given);
  return sessionStorage.getItem(KEY);
}

function begin() {
  if (keepToken() === null) return showStep("step-link");
  if (current() === null) return showStep("step-account");
  return askForName();
}

function askForName() {
  byId("administrator").textContent = current().name || t("you");
  showStep("step-instance");
}

async function setUp({ service_name, service_description, registration }) {
  const body = { token: sessionStorage.getItem(KEY), service_name: service_name.trim(), registration };
  if (service_description.trim() !== "") body.service_description = service_description.trim();
  try {
    await signedIn("POST", "/v1/instance/setup", { body });
  } catch (error) {
    if (error instanceof ApiError && error.code === "CONFLICT") return location.reload();
    if (!(error instanceof ApiError) || error.code !== "ACCESS_DENIED") throw error;
    throw new ApiError(error.status, error.code, WRONG_LINK);
  }
  sessionStorage.removeItem(KEY);
  byId("guild-form").elements.name.value = service_name.trim();
  showStep("step-guild");
  return null;
}

function dataOf(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.addEventListener("error", () => reject(new ApiError(0, "UNREADABLE", t("This picture cannot be read."))));
    reader.readAsDataURL(file);
  });
}

// The guild that was made, so that a second attempt after a failure half-way makes no second one.
let guild = null;

async function makeGuild({ name, welcome }) {
  const [picture] = byId("guild-icon").files;
  const body = { name: name.trim(), ...(picture ? { icon: await dataOf(picture) } : {}) };
  guild ??= await signedIn("POST", "/v1/guilds", { body });
  const channels = await signedIn("GET", `/v1/guilds/${guild.id}/channels`);
  const channel = channels.find((one) => one.type === TEXT_CHANNEL);
  const invite = await signedIn("POST", `/v1/channels/${channel.id}/invites`, { body: { max_age: 0, max_uses: 0 } });
  if (welcome) await signedIn("PATCH", "/v1/admin/instance/config", { body: { welcome_invite: invite.code } });
  byId("invite-link").textContent = `${location.origin}/invite/${encodeURIComponent(invite.code)}`;
  byId("invited").hidden = false;
  byId("open-chat").setAttribute("href", `/channels/${guild.id}/${channel.id}`);
  showStep("step-ready");
}

if (isOpen) {
  const form = byId("register-form");
  if (form) offerToRegister(form, askForName);
  onSubmit(byId("instance-form"), setUp);
  onSubmit(byId("guild-form"), makeGuild, { paths: { icon: "name" } });
  byId("other-account").addEventListener("click", async () => {
    await signOut();
    showStep("step-account");
  });
  byId("no-guild").addEventListener("click", () => showStep("step-ready"));
  byId("copy-invite").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(byId("invite-link").textContent);
      say(t("The link is copied."));
    } catch {
      say(t("Your browser does not allow that. Select the link and copy it."), "bad");
    }
  });
  begin();
}
