// A page that lies over the whole client: settings. What is beneath stays as it is, unseen, until the person goes back.

/** @typedef {import("./app.js").Cover} Cover */

/**
 * @param {HTMLElement} element What is covered.
 * @param {(path: string) => void} go
 */
export function makeCovers(element, go) {
  /** @type {Cover | null} */
  let cover = null;
  /** @type {Element | null} what had the focus */
  let before = null;
  let last = "/channels/@me";

  return {
    /** @param {Cover} next */
    cover(next) {
      if (cover) cover.stop();
      else before = document.activeElement;
      cover?.element.remove();
      cover = next;
      cover.element.tabIndex = -1;
      cover.element.dataset["region"] = "";
      element.inert = true;
      element.classList.add("covered-app");
      document.body.append(cover.element);
    },
    /** The person is somewhere in the client again. */
    uncover() {
      last = location.pathname;
      if (!cover) return;
      cover.stop();
      cover.element.remove();
      cover = null;
      element.inert = false;
      element.classList.remove("covered-app");
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    },
    leave: () => go(last),
  };
}
