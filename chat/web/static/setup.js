// The first run: whoever opens the set-up link makes the administrator's account, names the instance and makes the first
// community. The link's token is kept for this tab alone until it is used, so that signing in does not lose it.

import "./page.js";
import { dataAddress } from "../client/base/data_address.js";
import { ApiError } from "./api.js";
import { copied } from "./copying.js";
import { byId, findById, formById, inputById, inputIn, say, showStep, takeFragmentToken } from "./dom.js";
import { onSubmit } from "./forms.js";
import { offerToRegister } from "./registering.js";
import { current, signedIn, signOut } from "./session.js";
import { t } from "./spoken.js";

const KEY = "setup-token";
const TEXT_CHANNEL = 0;
const WRONG_LINK = t("This is not the set-up link of this server. Open the one that it printed when it last started.");

const isOpen = findById("step-link", HTMLElement) !== null;

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
  byId("administrator").textContent = current()?.name || t("you");
  showStep("step-instance");
}

/** @param {import("./forms.js").Texts} texts */
async function setUp({ service_name: name = "", service_description: description = "", registration }) {
  const body = /** @type {import("wire").Body<"POST", "/v1/instance/setup">} */ ({
    token: sessionStorage.getItem(KEY),
    service_name: name.trim(),
    registration,
    ...(description.trim() === "" ? {} : { service_description: description.trim() }),
  });
  try {
    await signedIn("POST", "/v1/instance/setup", { body });
  } catch (error) {
    if (error instanceof ApiError && error.code === "CONFLICT") return location.reload();
    if (!(error instanceof ApiError) || error.code !== "ACCESS_DENIED") throw error;
    throw new ApiError(error.status, error.code, WRONG_LINK);
  }
  sessionStorage.removeItem(KEY);
  inputIn(formById("guild-form"), "name").value = name.trim();
  showStep("step-guild");
  return null;
}

/** @returns {never} */
function unreadable() {
  throw new ApiError(0, "UNREADABLE", t("This picture cannot be read."));
}

/**
 * The guild that was made, so that a second attempt after a failure half-way makes no second one.
 * @type {import("wire").Answer<"POST", "/v1/guilds"> | null}
 */
let guild = null;

/** @param {import("./forms.js").Texts} texts */
async function makeGuild({ name = "" }) {
  const picture = inputById("guild-icon").files?.[0];
  const body = { name: name.trim(), ...(picture ? { icon: await dataAddress(picture).catch(unreadable) } : {}) };
  guild ??= await signedIn("POST", "/v1/guilds", { body });
  const channels = await signedIn("GET", `/v1/guilds/${guild.id}/channels`);
  const channel = channels.find((one) => one.type === TEXT_CHANNEL);
  if (!channel) throw new ApiError(0, "NO_CHANNEL", t("Something went wrong on this page. Reload it and try again."));
  const invite = await signedIn("POST", `/v1/channels/${channel.id}/invites`, { body: { max_age: 0, max_uses: 0 } });
  if (inputIn(formById("guild-form"), "welcome").checked) await signedIn("PATCH", "/v1/admin/instance/config", { body: { welcome_invite: invite.code } });
  byId("invite-link").textContent = `${location.origin}/invite/${encodeURIComponent(invite.code)}`;
  byId("invited").hidden = false;
  byId("open-chat").setAttribute("href", `/channels/${guild.id}/${channel.id}`);
  showStep("step-ready");
}

if (isOpen) {
  const form = findById("register-form", HTMLFormElement);
  if (form) offerToRegister(form, askForName);
  onSubmit(formById("instance-form"), setUp);
  onSubmit(formById("guild-form"), makeGuild, { paths: { icon: "name" } });
  // The browser's own button speaks the language of the browser.
  byId("guild-icon-choose").addEventListener("click", () => inputById("guild-icon").click());
  inputById("guild-icon").addEventListener("change", () => {
    byId("guild-icon-name").textContent = inputById("guild-icon").files?.[0]?.name ?? "";
  });
  byId("other-account").addEventListener("click", async () => {
    await signOut();
    showStep("step-account");
  });
  byId("no-guild").addEventListener("click", () => showStep("step-ready"));
  byId("copy-invite").addEventListener("click", async () => {
    say(...(await copied(byId("invite-link").textContent ?? "", t("The link is copied."))));
  });
  begin();
}
