// What happens, as it happens: the lines of GET /v1/_dev/history/stream. A connection that breaks begins anew where it
// ended.

import { DEV } from "./dev_api.js";

const AGAIN_MS = 1_000;

/**
 * Calls `take({entries, dropped, next})` for each line, for ever; `state(true | false)` when the connection is there or
 * gone.
 */
export async function follow(after, take, state) {
  let position = after;
  for (;;) {
    try {
      const answer = await fetch(`${DEV}/history/stream?after=${position}`, { cache: "no-store", credentials: "omit" });
      if (!answer.ok) throw new Error(String(answer.status));
      state(true);
      await lines(answer.body, (line) => {
        const batch = JSON.parse(line);
        position = batch.next - 1;
        take(batch);
      });
    } catch {
      // told by the state
    }
    state(false);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    position = await known(position);
  }
}

// A server that was started anew counts from the beginning.
async function known(position) {
  try {
    const { next } = await (await fetch(`${DEV}/history?limit=1&payloads=false`)).json();
    return Math.min(position, next - 1);
  } catch {
    return position;
  }
}

async function lines(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    parts.filter(Boolean).forEach(take);
  }
}
