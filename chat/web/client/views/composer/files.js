// Files that wait to be sent: by button, by drag, by paste; each with its description, its progress and a way to
// stop it.

import { h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { keyed } from "../../base/keyed.js";
import { t } from "../../words/catalogue.js";

/**
 * @typedef {{key: number, file: File, description: string, isSpoiler: boolean, progress: number, isSending: boolean,
 *   controller: AbortController}} Waiting
 */

const FILES_MAXIMUM = 10;
const DESCRIPTION_MAXIMUM = 4096;

/**
 * @param {HTMLElement} ground where files may be dropped
 * @param {(words: string) => void} complain
 */
export function makeFiles(ground, complain) {
  const element = h("ul", { class: "files", "aria-label": t("composer.files"), hidden: "" });
  const input = /** @type {HTMLInputElement} */ (
    h("input", { type: "file", multiple: "", class: "unseen", tabindex: "-1", "aria-hidden": "true" })
  );
  const button = iconButton("add", t("composer.add_files"));
  const controller = new AbortController();
  /** @type {Waiting[]} */
  let waiting = [];
  let number = 0;

  /** @param {Iterable<File>} files */
  function add(files) {
    const room = FILES_MAXIMUM - waiting.length;
    const chosen = [...files];
    if (chosen.length > room) complain(t("composer.too_many_files", { n: FILES_MAXIMUM }));
    for (const file of chosen.slice(0, room)) {
      number += 1;
      waiting.push({
        key: number,
        file,
        description: "",
        isSpoiler: false,
        progress: 0,
        isSending: false,
        controller: new AbortController(),
      });
    }
    draw();
  }

  /** @param {Waiting} one */
  function remove(one) {
    one.controller.abort();
    waiting = waiting.filter((other) => other !== one);
    draw();
    (element.querySelector("button") ?? button).focus();
  }

  function draw() {
    element.hidden = waiting.length === 0;
    keyed(element, waiting, (one) => String(one.key), make, update);
  }

  /** @param {Waiting} one */
  function make(one) {
    const bar = h("progress", {
      max: "1",
      value: "0",
      hidden: "",
      "aria-label": t("composer.progress", { name: one.file.name }),
    });
    const description = /** @type {HTMLInputElement} */ (
      h("input", {
        class: "input",
        maxlength: String(DESCRIPTION_MAXIMUM),
        placeholder: t("composer.description"),
        "aria-label": t("composer.description_of", { name: one.file.name }),
      })
    );
    description.addEventListener("input", () => (one.description = description.value));
    const check = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
    check.addEventListener("change", () => (one.isSpoiler = check.checked));
    const away = h(
      "button",
      { type: "button", class: "icon-button", "aria-label": t("composer.remove_file", { name: one.file.name }) },
      icon("close"),
    );
    away.addEventListener("click", () => remove(one));
    return h(
      "li",
      { class: "waiting-file" },
      h("div", { class: "file-head" }, preview(one.file), h("bdi", { class: "clip small" }, one.file.name), away),
      description,
      h("label", { class: "small check" }, check, t("composer.spoiler")),
      bar,
    );
  }

  /**
   * @param {Element} row
   * @param {Waiting} one
   */
  function update(row, one) {
    const bar = /** @type {HTMLProgressElement} */ (row.querySelector("progress"));
    bar.hidden = !one.isSending;
    bar.value = one.progress;
  }

  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => (add(input.files ?? []), (input.value = "")));
  ground.addEventListener(
    "dragover",
    (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      ground.classList.add("dropping");
    },
    { signal: controller.signal },
  );
  for (const name of ["dragleave", "dragend", "drop"]) {
    ground.addEventListener(name, () => ground.classList.remove("dropping"), { signal: controller.signal });
  }
  ground.addEventListener(
    "drop",
    (event) => {
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      add(event.dataTransfer.files);
    },
    { signal: controller.signal },
  );

  return {
    element,
    input,
    button,
    add,
    count: () => waiting.length,
    /** What goes with a message; the list is empty afterwards, unless sending gives it back. */
    take() {
      const taken = waiting;
      waiting = [];
      draw();
      return taken;
    },
    /** While files go up they stay in sight, with their progress. @param {Waiting[]} taken */
    begin(taken) {
      for (const one of taken) one.isSending = true;
      waiting = [...taken, ...waiting.filter((one) => !taken.includes(one))];
      draw();
    },
    /** What was sent goes; what was not waits again. @param {Waiting[]} taken @param {Waiting[]} left */
    end(taken, left) {
      for (const one of taken) one.isSending = false;
      waiting = waiting.filter((one) => !taken.includes(one) || left.includes(one));
      draw();
    },
    draw,
    stop() {
      controller.abort();
      for (const one of waiting) one.controller.abort();
    },
  };
}

/** @param {File} file */
function preview(file) {
  if (!/^image\/(?:png|jpeg|gif|webp|avif)$/.test(file.type)) return icon("file");
  const image = /** @type {HTMLImageElement} */ (h("img", { alt: "", class: "preview" }));
  const address = URL.createObjectURL(file);
  image.addEventListener("load", () => URL.revokeObjectURL(address), { once: true });
  image.addEventListener("error", () => image.replaceWith(icon("file")), { once: true });
  image.src = address;
  return image;
}
