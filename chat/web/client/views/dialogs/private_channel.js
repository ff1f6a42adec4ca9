// Who sees a channel: everybody, or only those whom somebody chooses.

import { h } from "../../base/dom.js";
import { BITS, guildPermissions } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { nameOfChannel } from "../names/channels.js";
import { plainName } from "../names/people.js";

/** @typedef {import("../shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Channel} Channel */
/** @typedef {import("../../store/shapes.js").Overwrite} Overwrite */

const ROLE = /** @type {const} */ (0);
const MEMBER = 1;
const SEEN = BITS.VIEW_CHANNEL;

/** @param {Channel} channel */
export function isPrivate({ guild_id: guildId, permission_overwrites: overwrites = [] }) {
  return overwrites.some(({ id, deny }) => id === guildId && (BigInt(deny) & SEEN) !== 0n);
}

/**
 * A switch, and below it the roles that see the channel nevertheless.
 * @param {App} app
 * @param {string} guildId
 * @param {Overwrite[]} known What the channel has now.
 */
export function privacyFields({ store }, guildId, known) {
  const guild = store.read.guilds.get(guildId);
  const { me } = store.read.session;
  const now = new Map(known.map((one) => [one.id, one]));
  const denied = BigInt(now.get(guildId)?.deny ?? 0) & SEEN;
  const closed = h("input", { type: "checkbox" });
  closed.checked = denied !== 0n;
  const boxes = [...(guild?.roles.values() ?? [])]
    .filter(({ id, permissions }) => id !== guildId && (BigInt(permissions) & BITS.ADMINISTRATOR) === 0n)
    .sort((one, other) => other.position - one.position)
    .map((role) => {
      const box = h("input", { type: "checkbox", value: role.id });
      box.defaultChecked = (BigInt(now.get(role.id)?.allow ?? 0) & SEEN) !== 0n;
      return { box, row: h("label", { class: "check" }, box, h("bdi", { class: "clip" }, plainName(role.name))) };
    });
  const legend = h("legend", { class: "small" }, t("private.who"));
  const roles = h("fieldset", { class: "forward-list" }, legend, ...boxes.map(({ row }) => row));
  const settle = () => (roles.hidden = !closed.checked || boxes.length === 0);
  closed.addEventListener("change", settle);
  settle();

  /** @param {string} id @param {0 | 1} type @param {boolean | null} sees null: as it is otherwise */
  function changed(id, type, sees) {
    const { allow = "0", deny = "0" } = now.get(id) ?? {};
    return {
      id,
      type,
      allow: String(sees === true ? BigInt(allow) | SEEN : BigInt(allow) & ~SEEN),
      deny: String(sees === false ? BigInt(deny) | SEEN : BigInt(deny) & ~SEEN),
    };
  }

  return {
    element: h(
      "div",
      {},
      h("label", { class: "check" }, closed, t("private.switch")),
      h("p", { class: "hint" }, t("private.words")),
      roles,
    ),
    /** What is to change, whoever closes a channel first among those who see it. @returns {Overwrite[]} */
    wanted() {
      const isClosed = closed.checked;
      if (!isClosed && denied === 0n) return [];
      const own = guild !== undefined && (guildPermissions(guild, me) & BITS.ADMINISTRATOR) === 0n;
      const chosen = boxes.filter(({ box }) => box.checked !== box.defaultChecked);
      return [
        ...(isClosed && own ? [changed(me, MEMBER, true)] : []),
        ...chosen.map(({ box }) => changed(box.value, ROLE, box.checked || null)),
        changed(guildId, ROLE, isClosed ? false : null),
      ];
    },
  };
}

/**
 * @param {App} app
 * @param {Channel} channel
 */
export function askForPrivacy(app, channel) {
  const fields = privacyFields(app, channel.guild_id ?? "", channel.permission_overwrites ?? []);
  const { guildSettings } = app.acts;
  const run = async () => {
    for (const { id, ...one } of fields.wanted()) {
      if (one.allow === "0" && one.deny === "0") await guildSettings.clearOverwrite(channel.id, id);
      else await guildSettings.overwrite(channel.id, id, one);
    }
  };
  const title = t("private.title", { name: nameOfChannel(app.store.read, channel) });
  app.layers.dialog({ title, content: fields.element, actions: [{ label: t("panel.save"), run }] });
}
