// Requests to the HTTP API: who asks, when to ask again, and what a refusal means for the session.

import { ApiError, exchange } from "../../static/api.js";
import { pause } from "../base/pause.js";
import { upload } from "./uploads.js";

/**
 * @template [Body=unknown]
 * @typedef {object} Options
 * @property {Record<string, string | number | boolean | undefined | null>} [query]
 * @property {Body} [body] JSON.
 * @property {FormData | Blob} [form] In its place: it goes up with its progress.
 * @property {(done: number) => void} [progress] Of the form, 0 to 1.
 * @property {string} [reason] For the audit log.
 * @property {AbortSignal} [signal]
 * @property {string} [sudo] The token of sudo mode.
 */
/** @typedef {{data: unknown, sudo: string | null}} Told */
/**
 * @template {string} Method
 * @template {string} Path
 * @typedef {Options<import("wire").Body<Method, `/v1${Path}`>>} OptionsOf
 */
/**
 * Asks for a path below `/v1`; what is answered follows from it.
 * @template {string} Method
 * @typedef {<Path extends string>(path: Path, options?: OptionsOf<Method, Path>) =>
 *   Promise<import("wire").Answer<Method, `/v1${Path}`>>} Ask
 */
/**
 * @typedef {<Method extends string, Path extends string>(
 *   method: Method, path: Path, options?: OptionsOf<Method, Path>
 * ) => Promise<{data: import("wire").Answer<Method, `/v1${Path}`>, sudo: string | null}>} AskWhole
 */
/**
 * @typedef {object} Rest
 * @property {Ask<"GET">} get
 * @property {Ask<"POST">} post
 * @property {Ask<"PATCH">} patch
 * @property {Ask<"PUT">} put
 * @property {Ask<"DELETE">} delete
 * @property {AskWhole} ask
 */
/**
 * @typedef {object} RestParts
 * @property {() => string} token
 * @property {() => void} signedOut The session is over.
 * @property {(seconds: number) => void} [patience] A request waits for its turn.
 */

/** This client knows threads (access.md, Client capabilities). */
export const FEATURES = "channel_threads";
const PATIENCE_MAXIMUM_S = 60;
const TRIES = 3;
const PAUSE_MS = 1000;
const UNAVAILABLE = new Set([502, 503, 504]);
/** Methods that change what is at a path: the last of two is to hold. */
const CHANGES = new Set(["PUT", "PATCH", "DELETE"]);

/**
 * @param {RestParts} parts
 * @returns {Rest}
 */
export function makeRest({ token, signedOut, patience = () => {} }) {
  /** @type {Map<string, number>} when a bucket may be asked again */
  const turns = new Map();
  /** @type {Map<string, Promise<void>>} the end of the latest change that is on its way, by its path */
  const changing = new Map();

  /**
   * Changes at one path go one after the other: on two connections the earlier one might come later.
   * @param {string} method
   * @param {string} path
   * @param {Options} [options]
   * @returns {Promise<Told>}
   */
  function ask(method, path, options) {
    if (!CHANGES.has(method)) return insist(method, path, options);
    const before = changing.get(path);
    const told = before ? before.then(() => insist(method, path, options)) : insist(method, path, options);
    const end = () => {
      if (changing.get(path) === over) changing.delete(path);
    };
    const over = told.then(end, end);
    changing.set(path, over);
    return told;
  }

  /**
   * Asks again where that may help.
   * @param {string} method
   * @param {string} path
   * @param {Options} [options]
   * @returns {Promise<Told>}
   */
  async function insist(method, path, options = {}) {
    const bucket = bucketOf(method, path);
    for (let tries = 1; ; tries += 1) {
      await pause((turns.get(bucket) ?? 0) - Date.now(), options.signal);
      try {
        return await send(method, path, options);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.status === 401) signedOut();
        const rest = restAfter(error, method, tries);
        if (rest === null) throw error;
        turns.set(bucket, Date.now() + rest);
        if (error.status === 429) patience(Math.ceil(rest / 1000));
      }
    }
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {Options} options
   * @returns {Promise<Told>}
   */
  function send(method, path, { query, body, form, progress, reason, signal, sudo }) {
    const address = `/v1${path}${queryOf(query)}`;
    /** @type {Record<string, string>} */
    const more = { "X-Service-Features": FEATURES, ...(reason && { "X-Audit-Log-Reason": bytesOf(reason) }) };
    if (form) return upload(method, address, form, { token: token(), progress, signal });
    return exchange(method, address, { body, token: token(), sudo, more, signal });
  }

  /**
   * @template {string} Method
   * @param {Method} method
   */
  function by(method) {
    /** @type {(path: string, options?: Options) => Promise<unknown>} */
    const data = async (path, options) => (await ask(method, path, options)).data;
    return /** @type {Ask<Method>} */ (data);
  }

  return {
    get: by("GET"),
    post: by("POST"),
    patch: by("PATCH"),
    put: by("PUT"),
    delete: by("DELETE"),
    ask: /** @type {AskWhole} */ (ask),
  };
}

/**
 * How long to wait before asking again, in milliseconds; null where the refusal stands.
 * @param {ApiError} error
 * @param {string} method
 * @param {number} tries
 */
function restAfter(error, method, tries) {
  if (tries >= TRIES) return null;
  if (error.status === 429 && error.code === "RATE_LIMITED") {
    const seconds = Number(error.body.retry_after) || 1;
    return seconds <= PATIENCE_MAXIMUM_S ? seconds * 1000 : null;
  }
  // A write may have been done before the answer was lost: only its caller knows whether to repeat it.
  return method === "GET" && UNAVAILABLE.has(error.status) ? PAUSE_MS * tries : null;
}

/**
 * Which requests wait for one another: those of one kind about one channel, guild or account.
 * @param {string} method
 * @param {string} path
 */
function bucketOf(method, path) {
  let number = 0;
  return `${method} ${path.replaceAll(/\d{6,}/g, (id) => ((number += 1) === 1 ? id : ":id"))}`;
}

/**
 * A text as UTF-8 in a header, whose characters are bytes.
 * @param {string} text
 */
function bytesOf(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/** @param {Options["query"]} query */
function queryOf(query = {}) {
  const given = Object.entries(query).flatMap(([name, value]) => (value == null ? [] : [[name, String(value)]]));
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
