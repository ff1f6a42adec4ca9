// Passkeys: the API speaks JSON with base64url, the browser bytes (WebAuthn level 3, 5.1).

import { ApiError } from "./api.js";
import { t } from "./language.js";

/** @typedef {Record<string, unknown>} Answered A credential as the API takes it. */

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
 * @param {import("wire").WebauthnRequestOptions} options
 * @returns {Promise<Answered>}
 */
export async function prove(options) {
  const { allowCredentials, ...others } = options;
  const publicKey = {
    ...others,
    challenge: toBytes(options.challenge),
    ...(allowCredentials ? { allowCredentials: allowCredentials.map(withBytes) } : {}),
  };
  const credential = await ask(() => navigator.credentials.get({ publicKey }), t("No passkey was used."));
  const response = /** @type {AuthenticatorAssertionResponse} */ (credential.response);
  const { authenticatorData, clientDataJSON, signature, userHandle } = response;
  return described(credential, {
    authenticatorData: toText(authenticatorData),
    clientDataJSON: toText(clientDataJSON),
    signature: toText(signature),
    ...(userHandle ? { userHandle: toText(userHandle) } : {}),
  });
}

/**
 * @param {import("wire").WebauthnCreationOptions} options
 * @returns {Promise<Answered>}
 */
export async function create(options) {
  const publicKey = {
    ...options,
    attestation: /** @type {AttestationConveyancePreference} */ (options.attestation),
    challenge: toBytes(options.challenge),
    user: { ...options.user, id: toBytes(options.user.id) },
    excludeCredentials: options.excludeCredentials.map(withBytes),
  };
  const credential = await ask(() => navigator.credentials.create({ publicKey }), t("No passkey was made."));
  const response = /** @type {AuthenticatorAttestationResponse} */ (credential.response);
  return described(credential, {
    attestationObject: toText(response.attestationObject),
    clientDataJSON: toText(response.clientDataJSON),
    transports: response.getTransports?.() ?? [],
  });
}

/** @param {{id: string, type: "public-key", transports?: string[]}} descriptor */
function withBytes({ id, type, transports }) {
  const named = /** @type {AuthenticatorTransport[] | undefined} */ (transports);
  return { id: toBytes(id), type, ...(named ? { transports: named } : {}) };
}

/**
 * @param {PublicKeyCredential} credential
 * @param {Record<string, unknown>} response
 * @returns {Answered}
 */
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
 * @param {() => Promise<Credential | null>} act
 * @param {string} otherwise
 */
async function ask(act, otherwise) {
  try {
    const credential = await act();
    if (credential instanceof PublicKeyCredential) return credential;
  } catch (error) {
    const { name } = /** @type {Error} */ (error);
    throw new ApiError(0, name, REFUSALS[name]?.() ?? t("{otherwise} Try again when you are ready.", { otherwise }));
  }
  throw new ApiError(0, "NotAllowedError", otherwise);
}
