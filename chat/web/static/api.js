// Calls to the HTTP API. Every failure is an ApiError with a sentence that can be shown to a person.

import { t, translated } from "./language.js";

const TIMEOUT_MS = 30_000;

/**
 * @typedef {Partial<import("wire").Error> & {error?: string, error_description?: string}} Refused The error object. OAuth2's
 *   own failures are named `error` and `error_description` (RFC 6749).
 */
/**
 * @template {string} Method
 * @template {string} Path
 * @typedef {object} Options
 * @property {import("wire").Body<Method, Path>} [body] JSON.
 * @property {string | null} [token]
 * @property {string | null} [sudo]
 * @property {Record<string, string>} [more] Headers.
 * @property {AbortSignal} [signal]
 */

export class ApiError extends Error {
  /**
   * @param {number} status 0 stands for no answer at all
   * @param {string} code
   * @param {string} message
   * @param {Refused} body the error object as the API sent it
   */
  constructor(status, code, message, body = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.body = body;
    this.fields = (body.errors ?? []).map((field) => ({ ...field, message: translated(field.message) }));
  }

  /** @param {string} code */
  hasField(code) {
    return this.fields.some((field) => field.code === code);
  }
}

/**
 * Sends one request; `signal` gives it up. `data` is null without a body, `sudo` the token of sudo mode, if any.
 * @template {string} Method
 * @template {string} Path
 * @param {Method} method
 * @param {Path} path
 * @param {Options<Method, Path>} [options]
 * @returns {Promise<{status: number, data: import("wire").Answer<Method, Path>, sudo: string | null}>}
 */
export async function exchange(method, path, { body, token, sudo, more = {}, signal } = {}) {
  const headers = new Headers({ Accept: "application/json", ...more });
  if (token) headers.set("Authorization", token);
  if (sudo) headers.set("X-Service-Sudo-Mode-JWT", sudo);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  let response;
  let data;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: signal ? AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) : AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    data = text === "" ? null : read(text, response.ok);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "NO_ANSWER", t("The server could not be reached. Check your connection and try again."));
  }
  if (!response.ok) throw refusal(response.status, withPatience(data ?? {}, response.headers));
  return { status: response.status, data, sudo: response.headers.get("X-Service-Sudo-Mode-JWT") };
}

/**
 * @template {string} Method
 * @template {string} Path
 * @param {Method} method
 * @param {Path} path
 * @param {Options<Method, Path>} [options]
 */
export async function call(method, path, options) {
  return (await exchange(method, path, options)).data;
}

/**
 * What stands before the server may refuse with a page of its own.
 * @param {string} text
 * @param {boolean} isAnswer
 */
function read(text, isAnswer) {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (isAnswer) throw error;
    return null;
  }
}

/**
 * How long to wait, in seconds, stands in the body, and in the header, too, when somebody else refuses.
 * @param {Refused} body
 * @param {Headers} headers
 */
export function withPatience(body, headers) {
  const told = headers.get("Retry-After");
  return told === null || "retry_after" in body ? body : { ...body, retry_after: Number(told) || 1 };
}

/**
 * @param {number} status
 * @param {Refused} body
 */
export function refusal(status, body) {
  const code = body.code ?? body.error ?? (status === 429 ? "RATE_LIMITED" : "UNKNOWN");
  if (status === 429 && code === "RATE_LIMITED") {
    return new ApiError(status, code, t("That was tried too often. Wait {span} and try again.", { span: span(body.retry_after) }), body);
  }
  if (status >= 500) {
    return new ApiError(status, code, t("The server could not do that just now. Try again in a moment."), body);
  }
  const message = translated(body.message ?? body.error_description ?? body.error ?? "") || t("The server refused this.");
  return new ApiError(status, code, message, body);
}

/** @param {unknown} seconds */
function span(seconds) {
  const whole = Math.max(1, Math.ceil(Number(seconds) || 1));
  if (whole < 90) return whole === 1 ? t("a second") : t("{seconds} seconds", { seconds: whole });
  const minutes = Math.ceil(whole / 60);
  return minutes < 90 ? t("{minutes} minutes", { minutes }) : t("{hours} hours", { hours: Math.ceil(minutes / 60) });
}
