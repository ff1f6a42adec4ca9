// Pictures as large as the screen: one after the other, larger still by a press, with what they show in words.

import { fileAddress } from "../base/address.js";
import { fill, h } from "../base/dom.js";
import { icon, iconButton } from "../base/icon.js";
import { large, pictureOf, watch } from "../base/renditions.js";
import { download } from "../views/messages/media.js";
import { t } from "../words/catalogue.js";
import { number } from "../words/dates.js";

/** @typedef {import("../views/shell/app.js").App} App */

const PICTURE = /^image\//;

/** @param {{app: App, message: import("wire").Message, source: HTMLElement}} parts */
export function open({ message, source }) {
  const files = message.attachments.filter(
    (file) => PICTURE.test(file.content_type ?? "") && file.width,
  );
  let at = Math.max(
    0,
    files.findIndex((file) => file.id === source.dataset["file"]),
  );
  const ground = h("div", { class: "viewer-ground" });
  const words = h("p", { class: "viewer-words" });
  const count = h("span", { class: "small", role: "status" });
  const save = h(
    "a",
    { class: "icon-button", "aria-label": t("viewer.download"), title: t("viewer.download"), rel: "noopener" },
    icon("download"),
  );
  const original = h("a", { class: "icon-button", target: "_blank", rel: "noopener noreferrer" }, icon("external"));
  original.setAttribute("aria-label", t("viewer.original"));
  original.title = t("viewer.original");
  const close = iconButton("close", t("layers.close"), () => element.close());
  const before = iconButton("chevron-back", t("viewer.before"), () => step(-1));
  const after = iconButton("chevron-forward", t("viewer.after"), () => step(1));
  const bar = h("div", { class: "viewer-bar" }, count, h("span", { class: "head-room" }), save, original, close);
  const element = h("dialog", { class: "viewer", "aria-label": t("viewer.name") }, bar, before, ground, after, words);
  before.classList.add("viewer-step");
  after.classList.add("viewer-step");

  function draw() {
    const file = files[at];
    if (!file) return;
    const source = pictureOf(file);
    const picture = h("img", { alt: file.description ?? file.filename, draggable: "false" });
    picture.width = source.width;
    picture.height = source.height;
    picture.src = large(source);
    picture.tabIndex = 0;
    picture.role = "button";
    picture.ariaPressed = "false";
    picture.addEventListener("click", (event) => {
      event.stopPropagation();
      const isLarge = ground.classList.toggle("zoomed");
      picture.ariaPressed = String(isLarge);
      if (isLarge) picture.src = large(source, true);
    });
    picture.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      picture.click();
    });
    watch(picture, () => fill(ground, download(file)));
    ground.classList.remove("zoomed");
    fill(ground, picture);
    fill(words, h("bdi", {}, file.description ?? ""));
    words.hidden = !file.description;
    count.textContent = files.length > 1 ? t("viewer.count", { n: number(at + 1), all: number(files.length) }) : "";
    before.hidden = after.hidden = files.length < 2;
    save.setAttribute("href", fileAddress(file.url ?? ""));
    save.setAttribute("download", file.filename);
    original.setAttribute("href", large(source, true));
  }

  /** @param {1 | -1} way */
  function step(way) {
    at = (at + way + files.length) % files.length;
    draw();
  }

  element.addEventListener("keydown", (event) => {
    const isRightToLeft = getComputedStyle(element).direction === "rtl";
    if (event.key === "ArrowRight") step(isRightToLeft ? -1 : 1);
    if (event.key === "ArrowLeft") step(isRightToLeft ? 1 : -1);
  });
  ground.addEventListener("click", () => element.close());
  element.addEventListener("close", () => {
    element.remove();
    if (source.isConnected) source.focus();
  });
  let start = 0;
  ground.addEventListener("touchstart", (event) => (start = event.touches[0]?.clientX ?? 0), { passive: true });
  ground.addEventListener(
    "touchend",
    (event) => {
      const across = (event.changedTouches[0]?.clientX ?? start) - start;
      if (Math.abs(across) > 60 && files.length > 1 && !ground.classList.contains("zoomed")) step(across < 0 ? 1 : -1);
    },
    { passive: true },
  );
  draw();
  document.body.append(element);
  element.showModal();
  close.focus();
}
