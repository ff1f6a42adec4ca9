// Passkeys: the API speaks JSON with base64url, the browser bytes (WebAuthn level 3, 5.1).

import { ApiError } from "./api.js";
import { t } from "./language.js";

/** @param {string} text */
export function toBytes(text) {
  const padded = text.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(padded), (character) => character.charCodeAt(0));
}

/** @param {ArrayBufferLike} buffer */
export function toText(buffer) {
  const characters = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(characters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// Whether passkeys of this instance can be used on this page: the host has to belong to the relying party.
export function passkeysWorkHere() {
  const party = document.body.dataset["relyingParty"];
  const host = location.hostname;
  return Boolean(window.PublicKeyCredential) && (host === party || host.endsWith(`.${party}`));
}

/**
 * @param {any} options as the API gives them
 * @returns {Promise<any>} as the API takes it
 */
export async function prove(options) {
  const publicKey = { ...options, challenge: toBytes(options.challenge) };
  if (options.allowCredentials) publicKey.allowCredentials = options.allowCredentials.map(withBytes);
  const credential = await ask(() => navigator.credentials.get({ publicKey }), t("No passkey was used."));
  const { authenticatorData, clientDataJSON, signature, userHandle } = credential.response;
  return described(credential, {
    authenticatorData: toText(authenticatorData),
    clientDataJSON: toText(clientDataJSON),
    signature: toText(signature),
    ...(userHandle ? { userHandle: toText(userHandle) } : {}),
  });
}

/**
 * @param {any} options as the API gives them
 * @returns {Promise<any>} as the API takes it
 */
export async function create(options) {
  const publicKey = {
    ...options,
    challenge: toBytes(options.challenge),
    user: { ...options.user, id: toBytes(options.user.id) },
    excludeCredentials: (options.excludeCredentials ?? []).map(withBytes),
  };
  const credential = await ask(() => navigator.credentials.create({ publicKey }), t("No passkey was made."));
  return described(credential, {
    attestationObject: toText(credential.response.attestationObject),
    clientDataJSON: toText(credential.response.clientDataJSON),
    transports: credential.response.getTransports?.() ?? [],
  });
}

/** @param {any} descriptor */
function withBytes(descriptor) {
  return { ...descriptor, id: toBytes(descriptor.id) };
}

/** @param {any} credential @param {any} response */
function described(credential, response) {
  return {
    id: credential.id,
    rawId: toText(credential.rawId),
    type: credential.type,
    ...(credential.authenticatorAttachment ? { authenticatorAttachment: credential.authenticatorAttachment } : {}),
    clientExtensionResults: credential.getClientExtensionResults(),
    response,
  };
}

// What the browser refuses is one of few things; the names are the standard's.
/** @type {Readonly<Record<string, () => string>>} */
const REFUSALS = {
  InvalidStateError: () => t("This authenticator already holds a passkey of this account."),
  SecurityError: () => t("Passkeys do not work at this address."),
};

/**
 * @param {() => Promise<any>} act
 * @param {string} otherwise
 * @returns {Promise<any>}
 */
async function ask(act, otherwise) {
  try {
    const credential = await act();
    if (credential) return credential;
  } catch (error) {
    const { name } = /** @type {Error} */ (error);
    throw new ApiError(0, name, REFUSALS[name]?.() ?? t("{otherwise} Try again when you are ready.", { otherwise }));
  }
  throw new ApiError(0, "NotAllowedError", otherwise);
}
