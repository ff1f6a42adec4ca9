// What stands in each row of a list of members: a heading of a group, or a person.

import { compareIds } from "../../store/shapes.js";
import { presenceOf } from "../names/presence.js";

/** @typedef {import("../../store/shapes.js").MemberList} MemberList */
/** @typedef {import("../../store/shapes.js").State} State */
/**
 * @typedef {{group: string, count: number}
 *   | {userId: string, user: import("wire").PartialUser, nick: string | null, roles: string[],
 *   presence?: import("../../store/shapes.js").Seen | undefined}} Row
 */

const BLOCK = 100;

/**
 * How many rows a list has: its people, and a heading for each group.
 * @param {MemberList | undefined} list
 */
export function lengthOf(list) {
  return list === undefined ? 0 : list.groups.reduce((sum, { count }) => sum + count + 1, 0);
}

/**
 * @param {MemberList | undefined} list
 * @param {number} index
 * @returns {Row | null} null: not known yet
 */
export function rowOf(list, index) {
  const row = list?.rows.get(index);
  if (row?.["group"]) return { group: row["group"].id, count: row["group"].count };
  const member = row?.["member"];
  if (!member || !("username" in member.user)) return null;
  const { nick = null, roles = [], presence } = member;
  const user = member.user;
  return { userId: user.id, user, nick, roles, presence };
}

/**
 * The blocks of a hundred rows that hold what is in sight.
 * @param {number} first
 * @param {number} last
 * @returns {[number, number][]}
 */
export function blocksOf(first, last) {
  /** @type {[number, number][]} */
  const blocks = [];
  for (let start = first - (first % BLOCK); start <= last; start += BLOCK) blocks.push([start, start + BLOCK - 1]);
  return blocks;
}

/**
 * The people of a conversation as such a list: those who are there first, by name.
 * @param {State} state
 * @param {string} channelId
 * @returns {MemberList}
 */
export function recipientList(state, channelId) {
  const known = state.channels.get(channelId)?.recipients ?? [];
  const users = [...known.filter(({ id }) => id !== state.session.me), { id: state.session.me }].map(
    ({ id }, at) => state.users.get(id) ?? known[at] ?? { id, username: "", global_name: null, avatar: null },
  );
  const people = users.map((user) => ({ user, presence: presenceOf(state, user.id, null), name: nameOf(user) }));
  people.sort((a, b) => (a.name === b.name ? compareIds(a.user.id, b.user.id) : a.name < b.name ? -1 : 1));
  const groups = [
    { id: "online", members: people.filter(({ presence }) => presence !== undefined) },
    { id: "offline", members: people.filter(({ presence }) => presence === undefined) },
  ].filter(({ members }) => members.length > 0);
  /** @type {import("../../store/shapes.js").ListRow[]} */
  const rows = groups.flatMap(({ id, members }) => [
    { group: { id, count: members.length } },
    ...members.map(({ user, presence }) => ({ member: { user, presence } })),
  ]);
  return {
    groups: groups.map(({ id, members }) => ({ id, count: members.length })),
    rows: new Map(rows.map((row, at) => [at, row])),
    counts: { members: people.length, online: people.filter(({ presence }) => presence !== undefined).length },
  };
}

/** @param {import("wire").PartialUser} user */
function nameOf(user) {
  return String(user.global_name || user.username).toLowerCase();
}
