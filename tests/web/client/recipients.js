// The people of a conversation as a list of members, from plain values.

import { emptyState } from "../../../chat/web/client/store/shapes.js";
import { lengthOf, recipientList, rowOf } from "../../../chat/web/client/views/members/rows.js";

export function rowsOf(me, recipients, online) {
  const state = emptyState();
  state.session.me = me.id;
  state.settings = { status: online.includes(me.id) ? "dnd" : "invisible" };
  for (const user of [me, ...recipients]) state.users.set(user.id, user);
  for (const id of online.filter((one) => one !== me.id)) state.presences.set(id, { status: "idle" });
  state.channels.set("70", { id: "70", type: 3, recipients: recipients.map(({ id }) => ({ id })) });
  const list = recipientList(state, "70");
  return Array.from({ length: lengthOf(list) }, (_, index) => {
    const row = rowOf(list, index);
    return "group" in row ? row : { name: row.user.username };
  });
}
