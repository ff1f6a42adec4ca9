// The acts that views can call, by their names.

import { makeActs } from "../../../chat/web/client/acts/acts.js";

export function namesOfActs() {
  const nothing = () => {};
  const connection = { watch: nothing, hear: nothing, show: nothing, state: { name: "waiting" } };
  const acts = makeActs({ store: { read: {} }, rest: {}, connection, now: Date.now, random: () => "" });
  return Object.entries(acts).flatMap(([area, its]) => Object.keys(its).map((name) => `${area}.${name}`));
}
