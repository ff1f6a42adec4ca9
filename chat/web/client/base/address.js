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
