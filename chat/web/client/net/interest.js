// What this browser looks at, told to the gateway (opcode 14): the guilds in sight are active, and member lists come.

/** @typedef {[number, number][]} Ranges Positions of a member list, both ends included: 0 to 99 are a hundred. */
/** @typedef {{guildId: string, channelId: string, ranges: Ranges}} Sight */

/** Ranges of a guild that a session watches at most; the sights of those who looked last go first. */
const RANGES = 10;

/**
 * @param {(op: number, data: unknown) => void} command
 */
export function makeInterest(command) {
  /** @type {Map<string, Sight>} by tab, the one that looked last at the end */
  const sights = new Map();
  /** @type {Set<string>} guilds that the gateway was told of */
  let told = new Set();

  function tell() {
    /** @type {Record<string, unknown>} */
    const subscriptions = {};
    for (const guildId of told) subscriptions[guildId] = { member_list_channels: {} };
    const seen = [...sights.values()].reverse();
    for (const { guildId } of seen) {
      const lists = listsOf(seen.filter((sight) => sight.guildId === guildId));
      subscriptions[guildId] = { active: true, typing: true, threads: true, member_list_channels: lists };
    }
    told = new Set(seen.map(({ guildId }) => guildId));
    if (Object.keys(subscriptions).length > 0) command(14, { subscriptions });
  }

  return {
    /**
     * @param {string} tab
     * @param {Sight | null} sight None: a conversation is looked at. Without ranges the member list is closed.
     */
    show(tab, sight) {
      const had = sights.delete(tab);
      if (sight) sights.set(tab, sight);
      if (sight || had) tell();
    },
    /** A new session knows nothing of it, and what was said between two connections is lost. */
    again: tell,
  };
}

/** @param {Sight[]} sights Of one guild. */
function listsOf(sights) {
  /** @type {Record<string, Ranges>} */
  const lists = {};
  let left = RANGES;
  for (const { channelId, ranges } of sights) {
    const taken = ranges.slice(0, left);
    if (taken.length > 0) lists[channelId] = [...(lists[channelId] ?? []), ...taken];
    left -= taken.length;
  }
  return lists;
}
