// The service worker: shows what the server pushes, and one page for when the server cannot be reached. It keeps no
// script and no answer of the API: what is shown is always the server's own.

const OFFLINE_PAGE = "/offline";
const CACHE = "offline";
const CLIENT = "/channels/";
const HOME = "/channels/@me";

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

/**
 * What the server tells of a message (chat/domain/accounts/push_notifications.py).
 * @typedef {{channel_id: string, url: string, tag?: string}} Data
 * @typedef {{title: string, body: string, icon: string | null, data: Data}} Told
 */

// The page is kept here; the files that it names never change, so the browser's own cache keeps them.
async function keepOfflinePage() {
  const cache = await caches.open(CACHE);
  const page = await fetch(OFFLINE_PAGE, { cache: "no-cache" });
  if (!page.ok) return;
  const text = await page.clone().text();
  await cache.put(OFFLINE_PAGE, page);
  await Promise.all([...text.matchAll(/(?:href|src)="(\/static\/[^"]+)"/g)].map((match) => fetch(match[1] ?? "")));
}

async function offlinePage() {
  return (await caches.match(OFFLINE_PAGE)) ?? Response.error();
}

/** @param {PushMessageData | null} data */
function told(data) {
  try {
    return /** @type {Told | null} */ (data?.json() ?? null);
  } catch {
    return null;
  }
}

/** @param {Told} message */
async function show({ title, body, icon, data }) {
  // One notification a channel, the newest, and one for each reminder; it sounds again, unless a tab is open: that has
  // told of it already.
  const open = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const isTold = open.some(({ url }) => new URL(url).pathname.startsWith(CLIENT));
  await worker.registration.showNotification(title, {
    body,
    data,
    tag: data.tag ?? data.channel_id,
    ...(isTold && { silent: true }),
    ...(icon === null ? {} : { icon }),
    .../** @type {object} */ ({ renotify: !isTold }),
  });
}

// The client that is open goes there by itself (`navigate` would load it anew); else one is opened.
/** @param {string} address */
async function open(address) {
  const url = new URL(address, worker.location.origin);
  const target = url.origin === worker.location.origin ? url.pathname : HOME;
  for (const client of await worker.clients.matchAll({ type: "window", includeUncontrolled: true })) {
    if (!new URL(client.url).pathname.startsWith(CLIENT)) continue;
    client.postMessage({ type: "go", path: target });
    await client.focus();
    return;
  }
  await worker.clients.openWindow(target);
}

worker.addEventListener("install", (event) => {
  event.waitUntil(keepOfflinePage().then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(fetch(event.request).catch(offlinePage));
});

worker.addEventListener("push", (event) => {
  const message = told(event.data);
  if (message !== null) event.waitUntil(show(message));
});

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.url));
});
