// Rate limits on demand.

import { ask, number } from "./dev_api.js";
import { table } from "./dev_parts.js";
import { byId, fill, h } from "./dom.js";
import { t } from "./spoken.js";

export function start() {
  byId("limits-all").addEventListener("change", (event) => change({ enabled: event.target.checked }));
  byId("limits-gateway").addEventListener("change", (event) => change({ gateway: event.target.checked }));
  byId("limits-one").addEventListener("submit", (event) => {
    event.preventDefault();
    change({ buckets: { [byId("limits-name").value]: { limit: number("limits-limit"), window_ms: number("limits-window") } } });
  });
}

export async function look() {
  took(await ask("GET", "/limits"));
}

async function change(body) {
  took(await ask("POST", "/limits", body));
}

function took(state) {
  if (state === undefined) return;
  byId("limits-all").checked = state.enabled;
  byId("limits-gateway").checked = state.gateway;
  fill(byId("limits-names"), state.buckets.map((bucket) => h("option", { value: bucket.name }, bucket.operations.join(", "))));
  const counted = state.buckets.filter((bucket) => bucket.enabled || bucket.chosen);
  counted.sort((one, other) => Number(other.chosen) - Number(one.chosen));
  byId("no-limits").hidden = counted.length > 0;
  table(byId("limits-list"), [t("Bucket"), t("Requests"), t("in ms"), t("Operations"), h("span", { class: "unseen" }, t("Actions"))],
    counted.map((bucket) => [
      h("code", {}, bucket.name), bucket.enabled ? String(bucket.limit) : t("off"), String(bucket.window_ms), bucket.operations.join(", "),
      bucket.chosen ? h("button", { type: "button", class: "small", click: () => change({ buckets: { [bucket.name]: null } }) }, t("As before")) : "",
    ]));
}
