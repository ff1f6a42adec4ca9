// Who the account is to others: names, pictures, words about oneself, with the card as others see it beside it.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { card, field, saveBar } from "../../views/settings/fields.js";
import { t } from "../../words/catalogue.js";
import { cutPicture } from "./pictures.js";
import { makePreview } from "./preview.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const PICTURES = "image/png,image/jpeg,image/webp,image/gif";
const FACE = { width: 512, height: 512 };
const BANNER = { width: 1200, height: 480 };
/** Members of the account that stand in fields, and how long they may be. */
const TEXTS = /** @type {const} */ ({ global_name: 32, username: 32, pronouns: 40, bio: 320 });

/** @param {App} app */
export function makeProfile(app) {
  const { store, acts } = app;
  const preview = makePreview(app);
  /** @type {import("wire").ChangeOwnAccountBody} what is changed */
  let changes = {};

  /** Its members are read by the names of fields. @returns {any} */
  const me = () => store.read.users.get(store.read.session.me) ?? {};

  const fields = {
    global_name: field({
      id: "profile-global_name",
      label: t("profile_page.global_name"),
      input: line("global_name"),
      hint: t("profile_page.global_name_hint"),
    }),
    username: field({
      id: "profile-username",
      label: t("profile_page.username"),
      input: line("username"),
      hint: t("profile_page.username_hint"),
    }),
    pronouns: field({ id: "profile-pronouns", label: t("profile_page.pronouns"), input: line("pronouns") }),
    bio: field({
      id: "profile-bio",
      label: t("profile_page.bio"),
      input: h("textarea", { class: "input", rows: "4", maxlength: String(TEXTS.bio) }),
      hint: t("profile_page.bio_hint"),
    }),
  };
  const colour = h("input", { type: "color", class: "colour-field", "aria-label": t("profile_page.colour") });
  const plain = h("button", { type: "button", class: "button plain" }, t("profile_page.no_colour"));
  const bar = saveBar(save, undo);

  /** @param {keyof typeof TEXTS} name */
  function line(name) {
    return h("input", { class: "input", maxlength: String(TEXTS[name]), autocomplete: "off", spellcheck: "false" });
  }

  /** @param {string} name @param {string | number | null} value */
  function change(name, value) {
    const before = me()[name] ?? null;
    const { [name]: _, ...others } = /** @type {Record<string, unknown>} */ (changes);
    changes = value === before ? others : { ...others, [name]: value };
    draw();
  }

  function draw() {
    const shown = { ...me(), ...changes };
    preview.draw(shown);
    const accent = shown.accent_color;
    colour.value = `#${(accent ?? 0).toString(16).padStart(6, "0")}`;
    plain.hidden = accent === null || accent === undefined;
    avatar.remove.hidden = !shown.avatar;
    banner.remove.hidden = !shown.banner;
    bar.say(null);
    bar.show(Object.keys(changes).length > 0);
  }

  function undo() {
    changes = {};
    for (const [name, { input, complain }] of Object.entries(fields)) {
      input.value = me()[name] ?? "";
      complain(null);
    }
    draw();
  }

  async function save() {
    for (const { complain } of Object.values(fields)) complain(null);
    try {
      await acts.accountSettings.change(changes);
      undo();
      app.layers.toast(t("settings.saved"));
    } catch (error) {
      const problems = /** @type {import("../../../static/api.js").ApiError} */ (error).fields ?? [];
      let isSaid = false;
      for (const { path, message } of problems) {
        const its = /** @type {Record<string, ReturnType<typeof field>>} */ (fields)[path];
        its?.complain(message);
        if (its && !isSaid) its.input.focus();
        isSaid ||= its !== undefined;
      }
      bar.say(isSaid ? t("settings.look_above") : (problems[0]?.message ?? /** @type {Error} */ (error).message));
    }
  }

  for (const [name, { input }] of Object.entries(fields)) {
    input.addEventListener("input", () => change(name, input.value === "" && name !== "username" ? null : input.value));
  }
  colour.addEventListener("input", () => change("accent_color", Number.parseInt(colour.value.slice(1), 16)));
  plain.addEventListener("click", () => change("accent_color", null));

  /**
   * @param {"avatar" | "banner"} name
   * @param {string} label
   * @param {{width: number, height: number}} shape
   */
  function picture(name, label, shape) {
    const input = h("input", { type: "file", accept: PICTURES, hidden: "" });
    input.setAttribute("aria-label", label);
    input.addEventListener("change", async () => {
      const file = input.files?.[0];
      input.value = "";
      if (!file) return;
      const address = await cutPicture(file, shape).catch(() => null);
      if (address === null) app.layers.toast(t("profile_page.no_picture"));
      else change(name, address);
    });
    const pick = h("button", { type: "button", class: "button", click: () => input.click() }, icon("picture"), label);
    const words = name === "avatar" ? t("profile_page.no_avatar") : t("profile_page.no_banner");
    const remove = h("button", { type: "button", class: "button plain", click: () => change(name, null) }, words);
    return { element: h("div", { class: "picture-row" }, pick, remove, input), remove };
  }

  const avatar = picture("avatar", t("profile_page.avatar"), FACE);
  const banner = picture("banner", t("profile_page.banner"), BANNER);
  const form = h("div", { class: "settings-cards" });
  fill(
    form,
    card(
      t("profile_page.you"),
      null,
      fields.global_name.element,
      fields.username.element,
      fields.pronouns.element,
      fields.bio.element,
    ),
    card(
      t("profile_page.pictures"),
      t("profile_page.pictures_words"),
      avatar.element,
      banner.element,
      h("div", { class: "picture-row" }, h("span", {}, t("profile_page.colour")), colour, plain),
    ),
  );
  const aside = h("aside", { class: "settings-preview", "aria-label": t("profile_page.preview") }, preview.element);
  const element = h("div", { class: "settings-split" }, form, aside, bar.element);
  const unwatch = store.watch(["me"], () => Object.keys(changes).length === 0 && undo());
  undo();
  return { element, isChanged: () => Object.keys(changes).length > 0, stop: unwatch };
}
