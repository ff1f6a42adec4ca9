// Member lists, as far as they are watched (gateway.md, Lazy Request): groups with their sizes, and rows by position.

import { keepMember } from "./members.js";

/** @type {import("./shapes.js").Applying} */
export const MEMBER_LIST_EVENTS = {
  GUILD_MEMBER_LIST_UPDATE(state, data, touch) {
    const key = `${data.guild_id}:${data.id}`;
    const rows = new Map(state.lists.get(key)?.rows);
    for (const { range, items } of data.ops) {
      const [start, end] = range;
      for (let position = start; position <= end; position += 1) {
        const item = items[position - start];
        if (item) rows.set(position, item);
        else rows.delete(position);
        if (item?.member && "roles" in item.member) keepMember(state, data.guild_id, item.member, touch);
      }
    }
    const counts = { members: data.member_count, online: data.online_count };
    state.lists.set(key, { groups: data.groups, rows, counts });
    touch(`list:${key}`);
  },
};
