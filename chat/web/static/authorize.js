// Consent: an application asks, the person who is signed in agrees or declines. The application's name and those of
// communities come from strangers and are only ever text.

import "./page.js";
import { fill, h } from "../client/base/dom.js";
import { ApiError } from "./api.js";
import { byId, formById, showStep } from "./dom.js";
import { onSubmit } from "./forms.js";
import { askToSignIn, current, forget, signedIn, withNext } from "./session.js";
import { t } from "./spoken.js";
import { SCOPES, mask, mayManage, permissionsIn } from "./words.js";

/** @typedef {import("wire").PublicApplication} Application */

const PASSED_ON = [
  "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
];
const NEVER_OPENED = ["javascript:", "data:", "vbscript:", "blob:", "file:", "about:", "filesystem:"];

const query = new URLSearchParams(location.search);
/** @type {Record<string, string>} */
const asked = Object.fromEntries([...query].filter(([name]) => PASSED_ON.includes(name)));
const scopes = (asked["scope"] ?? "").split(/[\s+]+/).filter(Boolean);
const permissions = mask(query.get("permissions"));

/** @param {string} text */
function fail(text) {
  byId("failure").textContent = text;
  showStep("step-failed");
}

/** @param {string} address */
function leaveFor(address) {
  if (NEVER_OPENED.includes(new URL(address).protocol)) return fail(t("The application asked to go to an address that is not opened."));
  location.assign(address);
  showStep("step-leaving");
  return null;
}

/**
 * The address of the application with its answer, if the application really registered it (RFC 6749, 4.1.2.1).
 * @param {Application} application
 */
function declined(application) {
  if (!asked["redirect_uri"] || !application.redirect_uris?.includes(asked["redirect_uri"])) return null;
  const address = new URL(asked["redirect_uri"]);
  address.searchParams.set("error", "access_denied");
  address.searchParams.set("error_description", "The request was declined.");
  if (asked["state"]) address.searchParams.set("state", asked["state"]);
  return address.href;
}

/**
 * @param {Application} application
 * @param {import("wire").PrivateUser} user
 */
function present(application, user) {
  byId("application-name").textContent = application.name;
  byId("application-initial").textContent = [...application.name][0]?.toUpperCase() ?? "";
  document.title = t("Allow {name}? – {serviceName}", { name: application.name, serviceName: document.body.dataset["serviceName"] ?? "" });
  byId("who-name").textContent = user.global_name || user.username;
  fill(byId("scopes"), scopes.map((scope) => h("li", {}, SCOPES[scope] ?? scope)));
  if (asked["redirect_uri"] && URL.canParse(asked["redirect_uri"])) {
    const { protocol, host } = new URL(asked["redirect_uri"]);
    byId("destination").textContent = /^https?:$/.test(protocol) ? host : asked["redirect_uri"];
    byId("destination-line").hidden = false;
  }
}

async function offerGuilds() {
  if (!scopes.includes("bot")) return;
  const managed = (await signedIn("GET", "/v1/users/@me/guilds")).filter(mayManage);
  const wanted = query.get("guild_id");
  const select = byId("guild", HTMLSelectElement);
  fill(
    select,
    h("option", { value: "" }, managed.length > 0 ? t("Choose a community") : t("You manage no community")),
    managed.map((guild) => h("option", { value: guild.id, selected: guild.id === wanted }, guild.name)),
  );
  // With other scopes beside it, the bot may as well be added later.
  select.required = scopes.length === 1;
  byId("guild-field").hidden = false;
  const words = permissionsIn(permissions);
  byId("permissions-field").hidden = words.length === 0;
  // The first are those that can do most harm; an administrator's right says it all.
  const grave = (permissions & 8n) !== 0n;
  fill(byId("permissions"), words.map((text, index) => h("li", {}, grave && index === 0 ? h("strong", {}, text) : text)));
}

/** @param {Application} application */
function begin(application) {
  onSubmit(formById("consent-form"), async ({ guild_id }) => {
    const given = query.get("permissions");
    const bot = guild_id ? { guild_id, ...(given === null ? {} : { permissions: given }) } : {};
    const body = /** @type {import("wire").ConsentBody} */ ({ ...asked, ...bot });
    const { redirect_to: address } = await signedIn("POST", "/v1/oauth2/authorize/consent", { body });
    leaveFor(address);
  });
  byId("cancel").addEventListener("click", () => {
    const address = declined(application);
    if (address === null) showStep("step-declined");
    else leaveFor(address);
  });
  byId("other-account").addEventListener("click", () => {
    forget();
    location.assign(withNext("/login", location.pathname + location.search));
  });
}

async function run() {
  if (query.get("done") === "1") return showStep("step-added");
  if (!asked["client_id"]) return fail(t("The address names no application."));
  if (scopes.length === 0) return fail(t("The application did not say what it wants to do."));
  if (current() === null) return askToSignIn();
  const user = await signedIn("GET", "/v1/users/@me");
  const application = await signedIn("GET", `/v1/oauth2/applications/${encodeURIComponent(asked["client_id"])}/public`);
  if (asked["redirect_uri"] && application.redirect_uris && !application.redirect_uris.includes(asked["redirect_uri"])) {
    return fail(t("The application asked to be answered at an address that it has not registered."));
  }
  present(application, user);
  await offerGuilds();
  begin(application);
  return showStep("step-consent", { focus: false });
}

try {
  await run();
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  fail(error.status === 404 ? t("There is no such application.") : error.message);
}
