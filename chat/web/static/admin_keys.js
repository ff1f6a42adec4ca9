// The administrator's own API keys.

import { h } from "../client/base/dom.js";
import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { code, fromOutside, inZone, muted, table, withDistance } from "./admin_parts.js";
import { again } from "./admin_places.js";
import { ask } from "./admin_session.js";
import { plural, t } from "./spoken.js";

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showKeys({ signal }) {
  const [keys, { acls }] = await Promise.all([ask(READS.keys, { signal }), ask(READS.acls, { signal })]);
  const buttons = (/** @type {import("wire").AdminApiKey} */ key) => {
    const context = { params: { key_id: key.key_id }, key, acls };
    return h(
      "span",
      { class: "buttons" },
      actionButton(`changeKey-${key.key_id}`, OTHER_ACTIONS.changeKey, context, again),
      actionButton(`deleteKey-${key.key_id}`, OTHER_ACTIONS.deleteKey, context, again),
    );
  };
  return {
    title: t("API keys"),
    content: [
      h(
        "section",
        { class: "card" },
        muted(t("Keys let programs use the Admin API in your name. You see your own; a key that has expired is left out.")),
        h("div", { class: "buttons" }, actionButton("createKey", OTHER_ACTIONS.createKey, { acls }, again)),
      ),
      table(
        t("API keys"),
        [
          [t("Name"), (key) => h("strong", {}, fromOutside(key.name))],
          [t("May do"), (key) => h("details", {}, h("summary", {}, plural(key.acls.length, "{n} permission", "{n} permissions")), h("ul", {}, key.acls.map((acl) => h("li", {}, code(acl)))))],
          [t("Made"), (key) => inZone(key.created_at)],
          [t("Last used"), (key) => (key.last_used_at ? withDistance(key.last_used_at) : t("never"))],
          [t("Expires"), (key) => (key.expires_at ? withDistance(key.expires_at) : t("never"))],
          [t("Actions"), (key) => buttons(key)],
        ],
        keys,
        { empty: t("You have no key.") },
      ),
    ],
  };
}
