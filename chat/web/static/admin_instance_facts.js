// What the console has to know of the instance: how people sign in, whether there are stores, which permissions exist.

import { READS } from "./admin_operations.js";
import { ask } from "./admin_session.js";
import { call } from "./api.js";

/** @typedef {Awaited<ReturnType<typeof read>>} Facts */

/** @type {Promise<Facts> | null} */
let known = null;

export function instance() {
  known ??= read().catch((error) => {
    known = null;
    throw error;
  });
  return known;
}

async function read() {
  const [discovery, { acls }] = await Promise.all([call("GET", "/.well-known/chat"), ask(READS.acls)]);
  return { signIn: document.body.dataset["signIn"], hasPurchases: !discovery.features.self_hosted, acls };
}
