// Rate limits on demand.

import { fill, h } from "../client/base/dom.js";
import { ask, number } from "./dev_api.js";
import { table } from "./dev_parts.js";
import { byId, inputById } from "./dom.js";
import { t } from "./spoken.js";

/**
 * @typedef {{name: string, enabled: boolean, limit: number, window_ms: number, chosen: boolean, operations: string[]}} Bucket
 */
/** @typedef {{enabled: boolean, gateway: boolean, buckets: Bucket[]}} State */

export function start() {
  const [all, gateway] = [inputById("limits-all"), inputById("limits-gateway")];
  all.addEventListener("change", () => change({ enabled: all.checked }));
  gateway.addEventListener("change", () => change({ gateway: gateway.checked }));
  byId("limits-one").addEventListener("submit", (event) => {
    event.preventDefault();
    change({ buckets: { [inputById("limits-name").value]: { limit: number("limits-limit"), window_ms: number("limits-window") } } });
  });
}

export async function look() {
  took(await ask("GET", "/limits"));
}

/** @param {{enabled?: boolean, gateway?: boolean, buckets?: Record<string, object | null>}} body */
async function change(body) {
  took(await ask("POST", "/limits", body));
}

/** @param {State | undefined} state */
function took(state) {
  if (state === undefined) return;
  inputById("limits-all").checked = state.enabled;
  inputById("limits-gateway").checked = state.gateway;
  fill(byId("limits-names"), state.buckets.map((bucket) => h("option", { value: bucket.name }, bucket.operations.join(", "))));
  const counted = state.buckets.filter((bucket) => bucket.enabled || bucket.chosen);
  counted.sort((one, other) => Number(other.chosen) - Number(one.chosen));
  byId("no-limits").hidden = counted.length > 0;
  table(byId("limits-list", HTMLTableElement), [t("Bucket"), t("Requests"), t("in ms"), t("Operations"), h("span", { class: "unseen" }, t("Actions"))],
    counted.map((bucket) => [
      h("code", {}, bucket.name), bucket.enabled ? String(bucket.limit) : t("off"), String(bucket.window_ms), bucket.operations.join(", "),
      bucket.chosen ? h("button", { type: "button", class: "small", click: () => change({ buckets: { [bucket.name]: null } }) }, t("As before")) : "",
    ]));
}
