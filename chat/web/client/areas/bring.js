// A community is brought along: a file is chosen and goes up, what is in it is looked at and chosen from, and it comes.

import { fill, h } from "../base/dom.js";
import { t } from "../words/catalogue.js";
import { number } from "../words/dates.js";
import { fileField } from "../views/dialogs/file_field.js";
import { visit } from "../views/dialogs/new_guild.js";
import { bytes } from "../views/messages/media.js";
import { plainName } from "../views/names/people.js";

/** @typedef {import("../views/shell/app.js").App} App */
/** @typedef {import("wire").CommunityImport} Brought */
/** @typedef {import("wire").BroughtObstacle} Obstacle */

const POLL_MS = 1000;
const NAME_MAXIMUM = 100;
const ENDINGS = ".zip,.json,.jsonl,.gz,.tgz,.tar";
const MOVING = new Set(["reading", "importing", "undoing"]);
/** States of the latest one that are shown again: something can still be done with it. */
const TOLD = new Set([...MOVING, "ready", "completed"]);
const TROUBLES = {
  not_readable: () => t("bring.not_readable"),
  unknown_export: () => t("bring.unknown_export"),
  gone: () => t("bring.gone"),
  no_room: () => t("bring.no_room"),
  broke_off: () => t("bring.broke_off"),
};

/** @param {{app: App}} parts */
export async function open({ app }) {
  const acts = app.acts.brought;
  const said = h("p", { class: "muted", role: "status" });
  const bar = h("progress", { class: "bring-bar", max: "1", hidden: "", "aria-label": t("bring.title") });
  const body = h("div", { class: "bring" });
  let timer = 0;
  let isClosed = false;
  let leaving = new AbortController();
  let shown = "";
  const overview = await acts.all();
  const close = app.layers.dialog({
    title: t("bring.title"),
    content: h("div", {}, said, bar, body),
    wide: true,
    onClose: () => {
      isClosed = true;
      clearTimeout(timer);
      leaving.abort();
    },
  });

  /** @param {string} words @param {number | null} done 0 to 1, or null for no bar. */
  function say(words, done = null) {
    fill(said, words);
    bar.hidden = done === null;
    bar.value = done ?? 0;
  }

  /** What stands below the words now; the focus goes there if it was on what goes. @param {(Node | string)[]} parts */
  function put(...parts) {
    const hadFocus = body.contains(document.activeElement);
    fill(body, ...parts);
    if (!hadFocus) return;
    const first = /** @type {HTMLElement | null} */ (body.querySelector("button, input:not([hidden])"));
    first?.focus();
  }

  /** @param {string} label @param {() => unknown} run @param {string} [kind] */
  function button(label, run, kind = "") {
    const press = () => void Promise.resolve(run()).catch(app.report);
    return h("button", { type: "button", class: `button ${kind}`.trim(), click: press }, label);
  }

  function choose() {
    shown = "";
    if (!overview.allowed) return void (say(t("bring.not_allowed")), put());
    const limit = bytes(overview.max_bytes);
    const { element, input } = fileField("bring-file", t("bring.file"), ENDINGS);
    input.addEventListener("change", () => input.files?.[0] && void send(input.files[0]).catch(failed));
    element.addEventListener("dragover", (event) => event.preventDefault());
    element.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void send(file).catch(failed);
    });
    say(t("bring.words", { size: limit }));
    return put(element);
  }

  /** @param {File} file */
  async function send(file) {
    if (file.size > overview.max_bytes) return app.layers.toast(t("bring.too_large"));
    leaving = new AbortController();
    const progress = (/** @type {number} */ done) =>
      say(t("bring.uploading", { name: plainName(file.name), percent: number(Math.floor(100 * done)) }), done);
    progress(0);
    put(button(t("layers.cancel"), () => (leaving.abort(), choose())));
    return draw(await acts.upload(file, progress, leaving.signal));
  }

  /** @param {unknown} error */
  function failed(error) {
    if (leaving.signal.aborted) return;
    choose();
    app.report(error);
  }

  /** @param {Brought} brought */
  function draw(brought) {
    if (isClosed) return;
    words(brought);
    if (shown !== brought.state) {
      shown = brought.state;
      put(...partsOf(brought));
    }
    if (!MOVING.has(brought.state)) return;
    timer = window.setTimeout(() => void look(brought.id), POLL_MS);
  }

  /** What becomes of it; a server that cannot be reached for a while is asked on. @param {string} id */
  async function look(id) {
    try {
      draw(await acts.one(id));
    } catch (error) {
      const { status = 500 } = /** @type {{status?: number}} */ (error);
      if (isClosed) return;
      const isPassing = status === 0 || status === 429 || status >= 500;
      if (isPassing) timer = window.setTimeout(() => void look(id), POLL_MS);
      else app.report(error);
    }
  }

  /** @param {Brought} brought */
  function words({ state, trouble, filename, progress, preview }) {
    const came = progress?.counts.messages ?? 0;
    const total = progress?.expected_messages ?? 0;
    if (state === "reading") return say(t("bring.reading", { name: plainName(filename) }));
    if (state === "ready") return say(t("bring.ready", { n: number(preview?.counts.messages ?? 0) }));
    if (state === "importing")
      return say(
        t("bring.importing", { n: number(came), total: number(total) }),
        total === 0 ? 0 : Math.min(1, came / total),
      );
    if (state === "completed") return say(t("bring.completed", { n: number(came) }));
    if (state === "cancelled") return say(t("bring.cancelled"));
    if (state === "undoing") return say(t("bring.undoing"));
    if (state === "undone") return say(t("bring.undone"));
    return say(TROUBLES[/** @type {keyof typeof TROUBLES} */ (trouble ?? "broke_off")]());
  }

  /** @param {Brought} brought @returns {HTMLElement[]} */
  function partsOf(brought) {
    const { id, state, progress, preview, guild_id: guildId } = brought;
    const stop = button(t("layers.cancel"), async () => {
      clearTimeout(timer);
      draw(await acts.cancel(id));
    });
    if (state === "ready" && preview) return chosen(brought, preview, stop);
    if (MOVING.has(state)) return state === "undoing" ? [] : [stop];
    const again = button(t("bring.another"), choose);
    if (!guildId || state === "undone") return [again];
    const go = button(t("bring.open"), () => (close(), visit(app, guildId)), "primary");
    const undo = button(t("bring.undo"), async () => draw(await acts.undo(id)));
    return [...obstacles(progress?.obstacles ?? []), h("div", { class: "buttons" }, go, undo, again)];
  }

  /**
   * What of it is to come.
   * @param {Brought} brought
   * @param {import("wire").BroughtPreview} preview
   * @param {HTMLElement} stop
   */
  function chosen({ id }, preview, stop) {
    const name = h("input", { class: "input", id: "bring-name", maxlength: String(NAME_MAXIMUM), autocomplete: "off" });
    name.value = preview.name ?? "";
    const boxes = preview.channels.map((channel) => {
      const box = h("input", { type: "checkbox", value: channel.id });
      box.checked = true;
      const count = h("span", { class: "meta" }, t("old_names.messages", { n: channel.message_count }));
      const label = h("span", {}, h("bdi", {}, plainName(channel.name)), " ", count);
      return { box, row: h("label", { class: "check" }, box, label) };
    });
    const files = h("input", { type: "checkbox" });
    files.checked = true;
    const people = preview.people.map((person) =>
      h(
        "li",
        {},
        h("bdi", {}, plainName(person.name)),
        " ",
        h("span", { class: "meta" }, t("old_names.messages", { n: person.message_count })),
      ),
    );
    const start = button(
      t("bring.go"),
      async () => {
        const channels = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
        // Of very many channels the largest are listed: without a choice all come.
        const choice = channels.length < boxes.length ? { channels } : {};
        draw(await acts.start(id, { name: name.value.trim(), files: files.checked, ...choice }));
      },
      "primary",
    );
    return [
      h("div", { class: "field" }, h("label", { for: "bring-name" }, t("new_guild.name")), name),
      h("fieldset", { class: "bring-list" }, h("legend", {}, t("bring.channels")), ...boxes.map(({ row }) => row)),
      h("label", { class: "check" }, files, h("span", {}, t("bring.files", { size: bytes(preview.bytes) }))),
      h("h3", {}, t("bring.people")),
      h("p", { class: "small muted" }, t("bring.people_words")),
      h("ul", { class: "bring-list", tabindex: "0", "aria-label": t("bring.people") }, ...people),
      ...obstacles(preview.obstacles),
      h("div", { class: "buttons" }, start, stop),
    ];
  }

  /** The server says the reasons in English. @param {Obstacle[]} found @returns {HTMLElement[]} */
  function obstacles(found) {
    if (found.length === 0) return [];
    const rows = found.map((one) => h("li", {}, `${number(one.count)} \u00d7 ${one.kind}: ${one.words}`));
    const list = h("ul", { class: "bring-list small", lang: "en", tabindex: "0" }, ...rows);
    return [h("h3", {}, t("bring.obstacles")), list];
  }

  const latest = overview.imports[0];
  if (latest && TOLD.has(latest.state)) draw(latest);
  else choose();
}
