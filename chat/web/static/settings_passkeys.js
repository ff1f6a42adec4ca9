// Passkeys: their list, a new one, another name, none; and whether signing in with a password asks for one.

import { fill, h } from "../client/base/dom.js";
import { ApiError } from "./api.js";
import { byId, inputById, say, when } from "./dom.js";
import { asked, complainingIn, confirmed } from "./dialogs.js";
import { onClick } from "./forms.js";
import { signedIn } from "./session.js";
import { t, tn } from "./spoken.js";
import { proved } from "./sudo.js";
import { create, passkeysWorkHere } from "./webauthn.js";

const PATH = "/v1/users/@me/mfa/webauthn";

const section = byId("passkeys");
const complain = complainingIn(section);

/** @param {import("wire").PrivateUser} user */
export async function showPasskeys(user) {
  byId("passkey-add").hidden = !passkeysWorkHere();
  byId("passkeys-not-here").hidden = passkeysWorkHere();
  onClick(byId("passkey-add"), add, complain);
  const second = inputById("passkey-second");
  second.checked = (user.authenticator_types ?? []).includes(2);
  second.addEventListener("change", async () => {
    try {
      await proved("PUT", PATH, { enabled: second.checked });
      say(second.checked ? t("Signing in with your password now asks for a passkey.") : t("Your password is enough again."), "good", section);
    } catch (error) {
      second.checked = !second.checked;
      if (!(error instanceof ApiError)) throw error;
      complain(error);
    }
  });
  await list();
}

async function list() {
  const passkeys = await signedIn("GET", `${PATH}/credentials`);
  fill(byId("passkey-list"), passkeys.map(row));
  byId("passkeys-none").hidden = passkeys.length > 0;
  byId("passkey-second-line").hidden = passkeys.length === 0;
}

/** @param {import("wire").WebauthnCredential} passkey */
function row(passkey) {
  const rename = h("button", { type: "button", "aria-label": t("Rename {name}", { name: passkey.name }) }, t("Rename"));
  const remove = h("button", { type: "button", class: "danger", "aria-label": t("Remove {name}", { name: passkey.name }) }, t("Remove"));
  const path = /** @type {const} */ (`${PATH}/credentials/${encodeURIComponent(passkey.id)}`);
  onClick(
    rename,
    async () => {
      const name = await asked({ title: t("Rename the passkey"), label: t("Name"), value: passkey.name });
      await signedIn("PATCH", path, { body: { name } });
      await list();
      say(t("The passkey is now called {name}.", { name }), "good", section);
    },
    complain,
  );
  onClick(
    remove,
    async () => {
      await confirmed({
        title: t("Remove the passkey?"),
        text: t("{name} no longer signs you in.", { name: passkey.name }),
        action: t("Remove"),
      });
      await proved("DELETE", path);
      await list();
      say(t("The passkey is removed."), "good", section);
      byId("passkey-add").focus();
    },
    complain,
  );
  const used = passkey.last_used_at ? tn("last used {time}", { time: when(passkey.last_used_at) }) : t("never used");
  return h(
    "li",
    {},
    h("div", { class: "what" }, h("strong", { class: "from-outside" }, passkey.name), h("p", { class: "muted" }, tn("Added {time}", { time: when(passkey.created_at) }), ", ", used)),
    h("div", { class: "buttons" }, rename, remove),
  );
}

async function add() {
  const options = await proved("POST", `${PATH}/credentials/registration-options`);
  const response = await create(options);
  const name = await asked({ title: t("Name the passkey"), label: t("Name"), value: nameOfThisDevice() });
  await signedIn("POST", `${PATH}/credentials`, { body: { response, challenge: options.challenge, name } });
  await list();
  say(t("The passkey is added."), "good", section);
}

function nameOfThisDevice() {
  /** @type {Navigator & {userAgentData?: {platform: string}}} */
  const { userAgentData: known, platform: told } = navigator;
  const platform = known?.platform || told;
  return platform === "" ? t("Passkey") : t("Passkey on {platform}", { platform });
}
