// Roles of a guild: what they may, how they look, and which stands above which.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../../views/names/people.js";
import { makeReorder } from "../../views/names/reorder.js";
import { check, field, input, settingsForm } from "./fields.js";
import { PERMISSIONS } from "./permission_words.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Role} Role */

/** @param {App} app @param {string} guildId */
export function rolesPage(app, guildId) {
  const { store, acts } = app;
  const list = h("ul", { class: "role-list", "aria-label": t("settings.roles") });
  const ground = h("section", { class: "role-ground" });
  const make = h("button", { type: "button", class: "button", click: () => void add() }, icon("add"), t("roles.make"));
  const element = h("div", { class: "roles" }, h("div", { class: "role-side" }, make, list), ground);
  /** @type {string} */
  let chosen = guildId;
  /** @type {ReturnType<typeof roleForm> | null} */
  let form = null;

  /** The highest first; everybody's last. @returns {Role[]} */
  function roles() {
    const all = [...(store.read.guilds.get(guildId)?.roles.values() ?? [])];
    return all.sort(
      (one, other) => Number(one.id === guildId) - Number(other.id === guildId) || other.position - one.position,
    );
  }

  /** @param {Role} role */
  function nameOf(role) {
    return role.id === guildId ? t("roles.everybody") : plainName(role.name);
  }

  async function add() {
    try {
      const role = await acts.guildSettings.makeRole(guildId, { name: t("roles.new") });
      chosen = role.id;
      draw();
    } catch (error) {
      app.report(error);
    }
  }

  /** @param {Role} role @param {1 | -1} way Up or down by one. */
  function move(role, way) {
    const at = roles().findIndex(({ id }) => id === role.id);
    return place(at, at - way);
  }

  /**
   * The places between stay the same; who stands in them changes.
   * @param {number} from
   * @param {number} to
   */
  async function place(from, to) {
    const order = roles().filter(({ id }) => id !== guildId);
    const role = order[from];
    if (!role || to < 0 || to >= order.length) return draw();
    const places = order.map(({ position }) => position);
    order.splice(from, 1);
    order.splice(to, 0, role);
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    const changed = order.map(({ id }, at) => ({ id, position: places[at] ?? 1 })).slice(first, last + 1);
    try {
      await acts.guildSettings.orderRoles(guildId, changed);
    } catch (error) {
      app.report(error);
      draw();
    }
    return undefined;
  }

  const reorder = makeReorder(list, { move: (from, to) => void place(from, to), announce: app.announce });

  function draw() {
    if (reorder.isHolding()) return;
    const all = roles();
    fill(list, ...all.map((role) => row(role, role === all[0], role === all.at(-2))));
    // One that was just made comes by the gateway a moment later.
    const role = all.find(({ id }) => id === chosen) ?? all.at(-1);
    if (!role || form?.role === role || (form?.role.id === role.id && form.isChanged())) return;
    form = roleForm(app, guildId, role);
    fill(ground, form.element);
    ground.ariaLabel = nameOf(role);
  }

  /** @param {Role} role @param {boolean} isFirst @param {boolean} isLast Everybody's stays below. */
  function row(role, isFirst, isLast) {
    const isEverybody = role.id === guildId;
    const dot = h("span", { class: "role-dot" });
    if (role.color !== 0) dot.style.setProperty("background-color", hex(role.color));
    const press = () => ((chosen = role.id), draw());
    const name = nameOf(role);
    const button = h(
      "button",
      { type: "button", class: "channel-link", click: press },
      dot,
      h("bdi", { class: "clip" }, name),
    );
    button.dataset["key"] = role.id;
    if (role.id === chosen) button.setAttribute("aria-current", "true");
    const steps = isEverybody ? [] : [step(role, name, 1, isFirst), step(role, name, -1, isLast)];
    return h("li", isEverybody ? {} : { "data-order": "", draggable: "true" }, button, ...steps);
  }

  /** @param {Role} role @param {string} name @param {1 | -1} way @param {boolean} isEnd */
  function step(role, name, way, isEnd) {
    const label = way === 1 ? t("roles.up", { name }) : t("roles.down", { name });
    const button = h(
      "button",
      {
        type: "button",
        class: "icon-button small-icon role-step",
        "aria-label": label,
        title: label,
        click: () => void move(role, way),
      },
      way === 1 ? "\u2191" : "\u2193",
    );
    button.dataset["key"] = `${role.id}:${way}`;
    button.ariaDisabled = String(isEnd);
    return button;
  }

  const unwatch = store.watch([`guild:${guildId}`], draw);
  draw();
  return { element, isChanged: () => form?.isChanged() ?? false, stop: unwatch };
}

/** @param {number} colour */
function hex(colour) {
  return `#${colour.toString(16).padStart(6, "0")}`;
}

/**
 * @param {App} app
 * @param {string} guildId
 * @param {Role} role
 */
function roleForm(app, guildId, role) {
  const { acts, layers } = app;
  const isEverybody = role.id === guildId;
  const name = input({ required: "", maxlength: "100" }, role.name);
  const hasColour = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
  const colour = input({ type: "color" }, hex(role.color || 0x1f8a70));
  const hoist = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
  const mentionable = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
  /** @type {Map<bigint, HTMLInputElement>} */
  const boxes = new Map();
  const groups = PERMISSIONS.map(({ words, entries }) => {
    const rows = entries.map(([bit, label]) => {
      const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
      boxes.set(bit, box);
      return check(label(), box);
    });
    return h("fieldset", { class: "permission-group" }, h("legend", {}, words()), ...rows);
  });

  function draw() {
    const mask = BigInt(role.permissions);
    name.value = role.name;
    hasColour.checked = role.color !== 0;
    colour.value = hex(role.color || 0x1f8a70);
    hoist.checked = role.hoist;
    mentionable.checked = Boolean(role["mentionable"]);
    for (const [bit, box] of boxes) box.checked = (mask & bit) !== 0n;
  }

  function read() {
    let mask = BigInt(role.permissions);
    for (const [bit, box] of boxes) mask = box.checked ? mask | bit : mask & ~bit;
    const look = {
      name: name.value.trim(),
      color: hasColour.checked ? Number.parseInt(colour.value.slice(1), 16) : 0,
      hoist: hoist.checked,
      mentionable: mentionable.checked,
    };
    return { ...(isEverybody ? {} : look), permissions: String(mask) };
  }

  const remove = () =>
    layers.dialog({
      title: t("roles.delete_title", { name: plainName(role.name) }),
      content: h("p", {}, t("roles.delete_words")),
      actions: [
        { label: t("menu.delete"), kind: "danger", run: () => acts.guildSettings.deleteRole(guildId, role.id) },
      ],
    });
  const look = [
    field("role-name", t("new_guild.name"), name),
    check(t("roles.has_colour"), hasColour),
    field("role-colour", t("roles.colour"), colour),
    check(t("roles.hoist"), hoist),
    check(t("roles.mentionable"), mentionable),
  ];
  const end = h("button", { type: "button", class: "button danger", click: remove }, t("roles.delete"));
  const content = h(
    "div",
    { class: "guild-set-card" },
    ...(isEverybody ? [h("p", { class: "note" }, t("roles.everybody_words"))] : look),
    ...groups,
    ...(isEverybody ? [] : [end]),
  );
  draw();
  const form = settingsForm({
    content,
    read,
    undo: draw,
    save: (changes) => acts.guildSettings.changeRole(guildId, role.id, changes),
  });
  return { ...form, role };
}
