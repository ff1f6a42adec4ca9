// What happens, as it happens: the lines of GET /v1/_dev/history/stream. A connection that breaks begins anew where it
// ended.

import { pause } from "../client/base/pause.js";
import { DEV } from "./dev_api.js";

const AGAIN_MS = 1_000;

/**
 * @typedef {object} Entry A frame, a socket that came or went, or a request.
 * @property {number} number
 * @property {string} at ISO 8601.
 * @property {"frame" | "opened" | "ended" | "request"} kind
 * @property {number} [socket]
 * @property {string | null} [user_id]
 * @property {string | null} [session_id]
 * @property {"in" | "out"} [direction]
 * @property {number | null} [op]
 * @property {string | null} [event]
 * @property {number | null} [sequence]
 * @property {number} [size]
 * @property {number} [code]
 * @property {string} [reason]
 * @property {string} [method]
 * @property {string} [path]
 * @property {string} [route]
 * @property {number} [status]
 * @property {number} [ms]
 * @property {string | null} [bucket]
 * @property {Record<string, string> | null} [limits]
 * @property {string} [refused]
 * @property {unknown} [body]
 * @property {unknown} [answer]
 * @property {unknown} [payload]
 * @property {string} [text]
 */
/** @typedef {{entries: Entry[], dropped: number, next: number, sessions_at_nodes?: number}} Batch */

/**
 * Calls `take({entries, dropped, next})` for each line, for ever; `state(true | false)` when the connection is there or
 * gone.
 * @param {number} after
 * @param {(batch: Batch) => void} take
 * @param {(isThere: boolean) => void} state
 */
export async function follow(after, take, state) {
  let position = after;
  for (;;) {
    try {
      const answer = await fetch(`${DEV}/history/stream?after=${position}`, { cache: "no-store", credentials: "omit" });
      if (!answer.ok) throw new Error(String(answer.status));
      state(true);
      if (answer.body) await lines(answer.body, (line) => {
        const batch = JSON.parse(line);
        position = batch.next - 1;
        take(batch);
      });
    } catch {
      // told by the state
    }
    state(false);
    await pause(AGAIN_MS);
    position = await known(position);
  }
}

/**
 * A server that was started anew counts from the beginning.
 * @param {number} position
 */
async function known(position) {
  try {
    const { next } = await (await fetch(`${DEV}/history?limit=1&payloads=false`)).json();
    return Math.min(position, next - 1);
  } catch {
    return position;
  }
}

/**
 * @param {ReadableStream<BufferSource>} body
 * @param {(line: string) => void} take
 */
async function lines(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts.filter(Boolean)) take(line);
  }
}
