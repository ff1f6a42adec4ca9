// Members that the session was not told of: asked for by their ids, or by how their names begin (opcode 8). The answer
// comes as a chunk and is kept by the store.

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {import("../store/shapes.js").Id} Id */

const REQUEST_MEMBERS = 8;
const IDS_PER_REQUEST = 100;
/** Ids of one drawing come together. */
const GATHER_MS = 50;
/** How many members a search by name brings. */
export const FOUND = 25;

/** @param {Pick<Parts, "store" | "connection">} parts */
export function makeMemberActs({ store, connection }) {
  /** @type {Map<Id, Set<Id>>} who was asked for in this connection, by guild: who left is not asked for again */
  const asked = new Map();
  /** @type {Map<Id, Id[]>} who is to be asked for next */
  const waiting = new Map();
  /** @type {Set<string>} searches of this connection */
  const searched = new Set();
  let isLive = false;

  connection.watch(() => {
    const now = connection.state.name === "live";
    // What was asked before may be lost.
    if (now && !isLive) for (const known of [asked, waiting, searched]) known.clear();
    isLive = now;
  });

  function ask() {
    for (const [guildId, ids] of waiting) {
      for (let start = 0; start < ids.length; start += IDS_PER_REQUEST) {
        const part = ids.slice(start, start + IDS_PER_REQUEST);
        connection.command(REQUEST_MEMBERS, { guild_id: guildId, user_ids: part });
      }
    }
    waiting.clear();
  }

  return {
    /**
     * These accounts are shown: those that are not known as members are asked for, once.
     * @param {Id} guildId
     * @param {Iterable<Id>} userIds
     */
    know(guildId, userIds) {
      const guild = store.read.guilds.get(guildId);
      if (guild === undefined || guild.unavailable || !store.read.session.live) return;
      const before = asked.get(guildId) ?? new Set();
      asked.set(guildId, before);
      const wanted = [...new Set(userIds)].filter((id) => !guild.members.has(id) && !before.has(id));
      if (wanted.length === 0) return;
      for (const id of wanted) before.add(id);
      if (waiting.size === 0) setTimeout(ask, GATHER_MS);
      waiting.set(guildId, [...(waiting.get(guildId) ?? []), ...wanted]);
    },
    /**
     * Members whose names begin so are asked for, once.
     * @param {Id} guildId
     * @param {string} word
     */
    find(guildId, word) {
      const key = `${guildId}:${word.toLowerCase()}`;
      if (word === "" || searched.has(key) || !store.read.session.live) return;
      searched.add(key);
      connection.command(REQUEST_MEMBERS, { guild_id: guildId, query: word, limit: FOUND });
    },
  };
}
