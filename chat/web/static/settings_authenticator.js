// The authenticator app (TOTP, RFC 6238) and the backup codes. The secret is made here, drawn by the server on request
// and put into no address.

import { fill, h } from "../client/base/dom.js";
import { copied } from "./copying.js";
import { byId, formById, say } from "./dom.js";
import { complainingIn, confirmed } from "./dialogs.js";
import { onClick, onSubmit } from "./forms.js";
import { current, signedIn } from "./session.js";
import { t } from "./spoken.js";
import { proved } from "./sudo.js";

const SECRET_BYTES = 20;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

let secret = "";

/** @param {import("wire").PrivateUser} user */
export function showAuthenticator(user) {
  const section = byId("authenticator");
  const complain = complainingIn(section);
  state((user.authenticator_types ?? []).includes(0));

  onClick(byId("totp-set-up"), () => begin(user), complain);
  byId("totp-cancel").addEventListener("click", () => state(false));
  onSubmit(formById("totp-enable-form"), async ({ code }) => {
    const body = { secret, code: code.replaceAll(/\s/g, "") };
    const { backup_codes: codes } = await proved("POST", "/v1/users/@me/mfa/totp/enable", body);
    secret = "";
    state(true);
    say(t("The authenticator app is set up. From now on, signing in asks for its code."), "good", section);
    showCodes(codes);
  });
  byId("totp-turn-off").addEventListener("click", () => {
    byId("totp-disable-form").hidden = false;
    byId("totp-off-code").focus();
  });
  byId("totp-keep").addEventListener("click", () => state(true));
  onSubmit(formById("totp-disable-form"), async ({ code }) => {
    const given = code.trim();
    // The same code serves as the proof of sudo mode.
    const body = { code: given, mfa_method: /** @type {const} */ ("totp"), mfa_code: given };
    await signedIn("POST", "/v1/users/@me/mfa/totp/disable", { body });
    state(false);
    hideCodes();
    say(t("The authenticator app is turned off, and its backup codes are void."), "good", section);
  }, { paths: { mfa_code: "code" } });

  const codes = byId("codes-section");
  const complainAboutCodes = complainingIn(codes);
  onClick(byId("codes-show"), () => getCodes(false), complainAboutCodes);
  onClick(
    byId("codes-renew"),
    async () => {
      await confirmed({
        title: t("Make new backup codes?"),
        text: t("The codes that you have now stop working."),
        action: t("Make new codes"),
      });
      await getCodes(true);
    },
    complainAboutCodes,
  );
  byId("codes-copy").addEventListener("click", async () => {
    say(...(await copied(codeTexts().join("\n"), t("The codes are copied."))), codes);
  });
  byId("codes-print").addEventListener("click", () => {
    document.body.classList.add("printing-codes");
    window.print();
    document.body.classList.remove("printing-codes");
  });
  byId("codes-done").addEventListener("click", hideCodes);
}

/** @param {boolean} enabled */
function state(enabled) {
  byId("totp-state").textContent = enabled ? t("on") : t("off");
  byId("totp-set-up").hidden = enabled;
  byId("totp-turn-off").hidden = !enabled;
  byId("totp-enabling").hidden = true;
  byId("totp-disable-form").hidden = true;
  formById("totp-disable-form").reset();
  formById("totp-enable-form").reset();
  byId("codes-section").hidden = !enabled;
}

/** @param {import("wire").PrivateUser} user */
async function begin(user) {
  secret = randomSecret();
  const service = document.body.dataset["serviceName"] ?? "";
  const label = encodeURIComponent(`${service}:${user.email || user.username}`);
  const uri = `otpauth://totp/${label}?${new URLSearchParams({ secret, issuer: service })}`.replaceAll("+", "%20");
  const image = byId("totp-image", HTMLImageElement);
  image.hidden = true;
  byId("totp-secret").textContent = secret.replaceAll(/.{4}(?=.)/g, "$& ");
  byId("totp-enabling").hidden = false;
  byId("totp-set-up").hidden = true;
  byId("totp-code").focus();
  const drawn = await draw(uri);
  if (drawn !== null) {
    image.src = drawn;
    image.hidden = false;
  }
}

/**
 * Without the drawing, the secret can still be typed.
 * @param {string} uri
 */
async function draw(uri) {
  const response = await fetch("/settings/totp-qr-code", {
    method: "POST",
    headers: { Authorization: current()?.token ?? "", "Content-Type": "application/json" },
    body: JSON.stringify({ uri }),
    credentials: "omit",
    cache: "no-store",
  }).catch(() => null);
  return response?.ok ? `data:image/svg+xml,${encodeURIComponent(await response.text())}` : null;
}

function randomSecret() {
  const bits = Array.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)), (byte) =>
    byte.toString(2).padStart(8, "0"),
  ).join("");
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join("");
}

/** @param {boolean} regenerate */
async function getCodes(regenerate) {
  const { backup_codes: codes } = await proved("POST", "/v1/users/@me/mfa/backup-codes", { regenerate });
  showCodes(codes);
}

/** @param {import("wire").BackupCode[]} codes */
function showCodes(codes) {
  const items = codes.map(({ code, consumed }) =>
    consumed ? h("li", { class: "code" }, h("s", {}, code), " ", t("used")) : h("li", { class: "code", "data-code": code }, code),
  );
  fill(byId("codes"), items);
  byId("codes-shown").hidden = false;
  byId("codes-buttons").hidden = true;
  byId("codes-heading").tabIndex = -1;
  byId("codes-heading").focus();
}

function hideCodes() {
  fill(byId("codes"));
  byId("codes-shown").hidden = true;
  byId("codes-buttons").hidden = false;
}

function codeTexts() {
  return Array.from(document.querySelectorAll("#codes [data-code]"), (item) => item.getAttribute("data-code"));
}
