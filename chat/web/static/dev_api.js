// Calls of the workbench: below /v1/_dev without a credential, elsewhere as an account of the world.

import { ApiError, call } from "./api.js";
import { copied } from "./copying.js";
import { inputById, say } from "./dom.js";

export const DEV = "/v1/_dev";

/**
 * What went wrong is said in the page; the answer is then undefined.
 * @template Data
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<Data | undefined>}
 */
export async function ask(method, path, body) {
  /** @type {string} */
  const address = `${DEV}${path}`;
  try {
    return /** @type {Data} */ (await call(method, address, { body }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const fields = error.fields.map((field) => `${field.path}: ${field.message}`);
    say([error.message, ...fields].join(" "), "bad");
    return undefined;
  }
}

/**
 * As `ask`, and says so when it is done.
 * @param {string} done
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
export async function act(done, method, path, body) {
  /** @type {unknown} */
  const answer = await ask(method, path, body);
  if (answer !== undefined) say(done);
  return answer;
}

/** @param {string} text */
export async function copy(text) {
  say(...(await copied(text)));
}

/** @param {string} id */
export function number(id) {
  const text = inputById(id).value.trim();
  return text === "" ? undefined : Number(text);
}
