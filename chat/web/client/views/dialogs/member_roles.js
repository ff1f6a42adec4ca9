// Which roles a member has; those that stand above one's own cannot be given.

import { h } from "../../base/dom.js";
import { standsAbove } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { nameOf, plainName } from "../names/people.js";

/**
 * @param {import("../shell/app.js").App} app
 * @param {string} guildId
 * @param {string} userId
 * @param {readonly string[]} held What the member has now.
 * @param {() => unknown} [done] When they were changed.
 */
export function chooseRoles({ store, acts, layers }, guildId, userId, held, done = () => {}) {
  const guild = store.read.guilds.get(guildId);
  if (!guild) return;
  const roles = [...guild.roles.values()]
    .filter(({ id }) => id !== guildId)
    .sort((one, other) => other.position - one.position);
  const boxes = roles.map((role) => {
    const box = h("input", { type: "checkbox", value: role.id });
    box.checked = held.includes(role.id);
    box.disabled = !standsAbove(guild, store.read.session.me, role);
    return { box, row: h("label", { class: "check" }, box, h("bdi", {}, plainName(role.name))) };
  });
  const none = h("p", { class: "muted" }, t("members.no_roles"));
  const name = nameOf({ store, guildId }, { id: userId, username: "" });
  layers.dialog({
    title: t("members.roles_of", { name }),
    content: h("div", {}, ...(boxes.length > 0 ? boxes.map(({ row }) => row) : [none])),
    actions: [
      {
        label: t("panel.save"),
        async run() {
          const chosen = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
          await acts.people.setRoles(guildId, userId, chosen);
          await done();
        },
      },
    ],
  });
}
