// Calls of the workbench: below /v1/_dev without a credential, elsewhere as an account of the world.

import { call } from "./api.js";
import { byId, say } from "./dom.js";
import { t } from "./language.js";

export const DEV = "/v1/_dev";

// What went wrong is said in the page; the answer is then undefined.
export async function ask(method, path, body) {
  try {
    return await call(method, `${DEV}${path}`, { body });
  } catch (error) {
    const fields = (error.fields ?? []).map((field) => `${field.path}: ${field.message}`);
    say([error.message, ...fields].join(" "), "bad");
    return undefined;
  }
}

// As `ask`, and says so when it is done.
export async function act(done, method, path, body) {
  const answer = await ask(method, path, body);
  if (answer !== undefined) say(done);
  return answer;
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say(t("Copied."));
  } catch {
    say(t("This browser does not let pages copy. Mark the text and copy it yourself."), "bad");
  }
}

export function number(id) {
  const text = byId(id).value.trim();
  return text === "" ? undefined : Number(text);
}
