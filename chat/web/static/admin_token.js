// The session token of the administration: in this tab alone, and gone with it. It is another sign-in than the one of the
// person's own pages, so that what is left open there opens nothing here.

const KEY = "administration";

export function current() {
  return sessionStorage.getItem(KEY);
}

/** @param {{token: string}} answer */
export function keep({ token }) {
  sessionStorage.setItem(KEY, token);
}

export function forget() {
  sessionStorage.removeItem(KEY);
}

/**
 * Whether a path of this origin leads there.
 * @param {string | null} path
 */
export function isOfAdministration(path) {
  return path === "/admin" || Boolean(path?.startsWith("/admin/"));
}
