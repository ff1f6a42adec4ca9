// Addresses of files. The server names them by the address that it knows of itself. A reader may have come by another
// one, a name within the house or a bare number, and finds them there as well.

const OWN = "/media/";

/**
 * @param {string} address Of a file that this server keeps or has signed.
 * @returns {string}
 */
export function fileAddress(address) {
  const { pathname, search } = new URL(address, location.href);
  return pathname.startsWith(OWN) ? `${pathname}${search}` : address;
}

const LOOPBACK = ["127.0.0.1", "[::1]"];

/**
 * Browsers give no passkeys to IP addresses, and keep what belongs to a session by the name in the address: an instance
 * on this machine is therefore used under its name, whichever way somebody came.
 * @returns {URL | null} this page under its name; null: it is there
 */
export function underItsName() {
  if (document.body.dataset["relyingParty"] !== "localhost" || !LOOPBACK.includes(location.hostname)) return null;
  const named = new URL(location.href);
  named.hostname = "localhost";
  return named;
}

/**
 * A part of an address as it is read; what is encoded wrongly stays as it is, for anybody may write that.
 * @param {string} part
 */
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Parts of this instance that the client shows itself. */
const INSIDE = /^\/(?:channels|invite)\/[^/]/;

/**
 * The path of an address that leads to a place of this instance; null of any other.
 * @param {string} address
 */
export function pathWithin(address) {
  if (!URL.canParse(address)) return null;
  const { host, hostname, port, pathname } = new URL(address);
  const isOurs =
    host === location.host ||
    address.startsWith(`${document.body.dataset["origin"] || "//"}/`) ||
    (port === location.port && [location.hostname, hostname].every((one) => [...LOOPBACK, "localhost"].includes(one)));
  return isOurs && INSIDE.test(pathname) ? pathname : null;
}
