// A page of settings over the whole client: which pages there are, and the one that is open. On a telephone the list
// comes first, then the page. What was changed and not saved is asked about before it is left.

import { fill, h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../shell/app.js").App} App */
/**
 * @typedef {object} Page
 * @property {HTMLElement} element
 * @property {() => boolean} [isChanged] Whether something waits to be saved.
 * @property {() => void} [stop]
 */
/**
 * @typedef {object} Entry
 * @property {string} key
 * @property {string} label
 * @property {string} icon
 * @property {() => Page} make
 * @property {Promise<boolean>} [isWanted] Whether the list has it.
 */
/** @typedef {ReturnType<typeof makeSettings>} Settings */

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.title
 * @param {string} parts.path Where the pages live, without the last part.
 * @param {Entry[]} parts.pages
 * @param {{label: string, icon: string, run: () => void}[]} [parts.foot] What can be done besides.
 */
export function makeSettings({ app, title, path, pages, foot = [] }) {
  const wide = matchMedia("(min-width: 48rem)");
  const list = h("ul", { class: "settings-list" });
  const heading = h("h1", { tabindex: "-1" });
  const content = h("div", { class: "settings-content" });
  const back = iconButton("back", t("settings.back"), () => go(""));
  back.classList.add("settings-back");
  const head = h("header", { class: "settings-head" }, back, heading, iconButton("close", t("settings.close"), leave));
  const listHead = h("div", { class: "settings-head settings-title" }, h("p", {}, title), closing());
  const element = h(
    "div",
    { class: "settings-page", "data-pane": "list" },
    h("nav", { class: "settings-nav", "aria-label": title }, listHead, list),
    h("main", { class: "settings-main" }, head, content),
  );
  /** @type {Page | null} */
  let page = null;
  /** @type {string | null} */
  let shown = null;

  function closing() {
    const close = iconButton("close", t("settings.close"), leave);
    close.classList.add("settings-back");
    return close;
  }

  /** @param {string} key */
  function go(key) {
    ask(() => app.go(key === "" ? path : `${path}/${key}`));
  }

  function leave() {
    ask(() => app.uncover());
  }

  /** @param {() => void} then */
  function ask(then) {
    if (!page?.isChanged?.()) return then();
    app.layers.dialog({
      title: t("settings.unsaved_title"),
      content: h("p", { class: "muted" }, t("settings.unsaved_words")),
      actions: [{ label: t("settings.discard"), kind: "danger", run: () => void setTimeout(then) }],
    });
    return undefined;
  }

  /** @param {string} key */
  function show(key) {
    const entry = pages.find((one) => one.key === key) ?? (wide.matches ? pages[0] : undefined);
    element.dataset["pane"] = entry ? "page" : "list";
    const next = entry?.key ?? null;
    if (next === shown) return;
    shown = next;
    page?.stop?.();
    page = entry?.make() ?? null;
    for (const link of list.querySelectorAll("a")) {
      if (link.dataset["key"] === next) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    heading.textContent = entry?.label ?? "";
    fill(content, ...(page ? [page.element] : []));
    content.scrollTop = 0;
    if (entry) heading.focus();
  }

  for (const { key, label, icon: sign, isWanted } of pages) {
    const link = h("a", { href: `${path}/${key}`, "data-key": key }, icon(sign), h("span", { class: "clip" }, label));
    const item = h("li", {}, link);
    list.append(item);
    if (isWanted === undefined) continue;
    item.hidden = true;
    isWanted.then(
      (wanted) => (item.hidden = !wanted),
      () => null,
    );
  }
  for (const { label, icon: sign, run } of foot) {
    const press = () => ask(run);
    const button = h("button", { type: "button", class: "settings-act", click: press }, icon(sign));
    button.append(h("span", { class: "clip" }, label));
    list.append(h("li", { class: "settings-foot" }, button));
  }
  list.addEventListener("click", (event) => {
    const link = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("a"));
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link.dataset["key"] ?? "");
  });
  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (document.querySelector("dialog[open], :popover-open") !== null) return;
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
    // Else the browser closes by the same key what is asked now.
    event.preventDefault();
    leave();
  }
  window.addEventListener("keydown", pressed);

  return {
    element,
    show,
    stop() {
      window.removeEventListener("keydown", pressed);
      page?.stop?.();
    },
  };
}
