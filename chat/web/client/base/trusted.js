// The one address that scripts may be loaded from by name: that of the service worker (Trusted Types).

const WORKER = "/service-worker.js";

/** @typedef {{createScriptURL: (wanted: string) => string}} Policy */
/** @typedef {{createPolicy: (name: string, rules: Policy) => Policy}} Types */

/** @type {{policy: Policy | null}} */
const made = { policy: null };

/** The browser's registration of the service worker. @returns {Promise<ServiceWorkerRegistration>} */
export async function serviceWorker() {
  await navigator.serviceWorker.register(address());
  return navigator.serviceWorker.ready;
}

function address() {
  const types = /** @type {{trustedTypes?: Types}} */ (globalThis).trustedTypes;
  if (!types) return WORKER;
  made.policy ??= types.createPolicy("chat", {
    /** @param {string} wanted */
    createScriptURL(wanted) {
      if (wanted !== WORKER) throw new TypeError("not a script of the client");
      return wanted;
    },
  });
  return made.policy.createScriptURL(WORKER);
}
