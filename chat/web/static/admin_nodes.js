// The gateway nodes of this server: who is there, and what each has in hand. Where there are none, nothing is shown.

import { fill, h } from "../client/base/dom.js";
import { size } from "./admin_archives.js";
import { READS } from "./admin_operations.js";
import { card, fromNow, fromOutside, table, tag } from "./admin_parts.js";
import { polled } from "./admin_polling.js";
import { ask } from "./admin_session.js";
import { locale, t } from "./spoken.js";

const EVERY_MS = 5_000;

/** @typedef {import("wire").Answer<"GET", "/v1/admin/gateway/nodes">} Nodes */
/** @typedef {import("wire").GatewayNode} Node */

/** @type {Record<string, [words: string, kind?: string]>} */
const STATES = {
  up: [t("is there")],
  draining: [t("sends its sessions elsewhere")],
  ended: [t("has ended")],
  dead: [t("is dead"), "off"],
  refused: [t("refused: its version is too far from this one"), "off"],
};

/** @param {AbortSignal} signal */
export async function nodesCard(signal) {
  const read = () => ask(READS.gatewayNodes, { signal });
  const first = await read();
  if (first.broker_is_up === null) return null;
  const place = h("div", {}, shown(first));
  void polled(first, read, (now) => fill(place, shown(now)), { signal, isDone: () => false, shortest: EVERY_MS });
  return card(t("Gateway nodes"), place);
}

/** @param {Nodes} figures */
function shown({ broker_is_up: brokerIsUp, nodes }) {
  const count = (/** @type {"sockets" | "sessions" | "unheard_messages"} */ name) => (/** @type {Node} */ node) => node[name].toLocaleString(locale());
  return [
    brokerIsUp ? null : h("p", { class: "status bad" }, t("The broker does not answer: this is what nodes told before.")),
    table(
      t("Gateway nodes"),
      [
        [t("Name"), (node) => fromOutside(node.name)],
        [t("State"), (node) => tag(...(STATES[node.state] ?? [node.state]))],
        [t("Connections"), count("sockets")],
        [t("Sessions"), count("sessions")],
        [t("Not heard yet"), count("unheard_messages")],
        [t("RAM"), (node) => (node.resident_bytes === 0 ? "–" : size(node.resident_bytes))],
        [t("Last heard"), (node) => fromNow(node.heard_at)],
      ],
      nodes,
      { empty: t("No node is here.") },
    ),
  ];
}
