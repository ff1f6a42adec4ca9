// Messages of the channels that were opened. A log is a stretch without a gap; it knows whether there is more on
// either side, and takes a new message only where it reaches to the newest.

import { keepEphemeral, withEphemeral } from "./interactions.js";
import { withOwnVotes, withVote } from "./polls.js";
import { compareIds } from "./shapes.js";

/** @typedef {import("./shapes.js").Payload} Payload */
/** @typedef {import("./shapes.js").Id} Id */
/** @typedef {import("./shapes.js").Log} Log */
/** @typedef {import("./shapes.js").Message} Message */
/** @typedef {import("./shapes.js").Reaction} Reaction */
/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Touch} Touch */

export const LOGS_KEPT = 20;
export const MESSAGES_KEPT = 500;

/**
 * Take over a page of the history: joined to the log where they overlap or touch, else in its place.
 * @param {State} state
 * @param {Id} channelId
 * @param {Message[]} page In any order.
 * @param {{before: boolean, after: boolean, joins?: "before" | "after"}} ends Whether there is more on either side of
 *   the page; `joins`: the page was asked for as the one before, or after, the log.
 * @param {Touch} touch
 */
export function putPage(state, channelId, page, { before, after, joins }, touch) {
  const held = state.logs.get(channelId);
  const known = held?.isOld ? undefined : held;
  const byId = new Map(page.map((message) => [message.id, message]));
  let ids = [...byId.keys()].sort(compareIds);
  const overlaps = known !== undefined && ids.some((id) => known.byId.has(id));
  if (known && (joins || overlaps)) {
    const [first, last] = [known.ids[0] ?? "", known.ids.at(-1) ?? ""];
    const isLower = joins === "before" || (!joins && compareIds(ids[0] ?? first, first) <= 0);
    const isUpper = joins === "after" || (!joins && compareIds(ids.at(-1) ?? last, last) >= 0);
    before = isLower ? before : known.before;
    after = isUpper ? after : known.after;
    // What lies within the page and is not in it is gone.
    const [start, end] = [ids[0] ?? "", ids.at(-1) ?? ""];
    const others = known.ids.filter((id) => compareIds(id, start) < 0 || compareIds(id, end) > 0);
    for (const id of others) byId.set(id, /** @type {Message} */ (known.byId.get(id)));
    ids = [...others, ...ids].sort(compareIds);
    ({ ids, before, after } = trimmed(ids, byId, { before, after, keepsNewer: !isLower || isUpper }));
  }
  ids = withEphemeral(state, channelId, { ids, byId, before, after });
  state.logs.delete(channelId); // the one used last stands last
  state.logs.set(channelId, { ids, byId, before, after, fault: null });
  for (const oldest of [...state.logs.keys()].slice(0, -LOGS_KEPT)) state.logs.delete(oldest);
  touch(`log:${channelId}`);
}

/**
 * A log that was there before all else was told anew: one that ends before its channel's newest message has a gap
 * behind it now, and one without a channel is gone.
 * @param {State} state
 * @param {Id} channelId
 * @param {Log} log
 */
export function keepLog(state, channelId, log) {
  const newest = state.channels.get(channelId)?.last_message_id;
  if (!state.channels.has(channelId)) return;
  const hasGap = Boolean(newest) && compareIds(log.ids.at(-1) ?? "", newest ?? "") < 0;
  state.logs.set(channelId, { ...log, after: log.after || hasGap });
}

/**
 * Listen to what happens in a channel while a page of it is on its way: the page may be older than that.
 * @param {State} state
 * @param {Id} channelId
 * @returns {((page: Message[]) => Message[]) & {reacted: ReadonlySet<Id>}} ends it, and brings the page up to date but
 *   for the reactions of those in `reacted`: whether the page has counted them already cannot be told.
 */
export function beginFetch(state, channelId) {
  /** @type {import("./shapes.js").Meanwhile} */
  const meanwhile = { deleted: new Set(), updated: new Map(), reacted: new Set() };
  const all = state.fetching.get(channelId) ?? new Set();
  state.fetching.set(channelId, all.add(meanwhile));
  const settled = (/** @type {Message[]} */ page) => {
    all.delete(meanwhile);
    if (all.size === 0) state.fetching.delete(channelId);
    return page
      .filter(({ id }) => !meanwhile.deleted.has(id))
      .map((message) => {
        const updated = meanwhile.updated.get(message.id);
        if (!updated) return message;
        return { ...withOwnVotes(updated, message), ...(message.reactions && { reactions: message.reactions }) };
      });
  };
  return Object.assign(settled, { reacted: meanwhile.reacted });
}

/**
 * Take over the reactions and votes of a message that was fetched by itself.
 * @param {State} state
 * @param {Message} message
 * @param {Touch} touch
 */
export function putReactions(state, { id, channel_id: channelId, reactions = [], poll }, touch) {
  const log = state.logs.get(channelId);
  const known = log?.byId.get(id);
  if (!log || !known) return;
  log.byId.set(id, { ...known, reactions, ...(poll && { poll }) });
  put(state, channelId, log, touch);
}

const WRITTEN = new Set([0, 19]);

/**
 * The newest message that the account wrote, of those that are known.
 * @param {State} state
 * @param {Id} channelId
 * @returns {Message | null}
 */
export function newestOwn(state, channelId) {
  const messages = [...(state.logs.get(channelId)?.byId.values() ?? [])];
  const own = messages.filter(({ author, type }) => author.id === state.session.me && WRITTEN.has(type));
  return own.sort((one, other) => compareIds(one.id, other.id)).at(-1) ?? null;
}

/** @type {import("./shapes.js").Applying} */
export const LOG_EVENTS = {
  MESSAGE_CREATE(state, message, touch) {
    keepEphemeral(state, message);
    const log = state.logs.get(message.channel_id);
    if (message.nonce && state.outbox.delete(`${message.nonce}`)) touch(`log:${message.channel_id}`);
    if (!log || log.after || log.byId.has(message.id)) return;
    log.byId.set(message.id, message);
    const end = trimmed([...log.ids, message.id].sort(compareIds), log.byId, { ...log, keepsNewer: true });
    put(state, message.channel_id, { ...log, ...end }, touch);
  },
  MESSAGE_UPDATE(state, message, touch) {
    keepEphemeral(state, message);
    for (const meanwhile of state.fetching.get(message.channel_id) ?? []) meanwhile.updated.set(message.id, message);
    const log = state.logs.get(message.channel_id);
    const known = log?.byId.get(message.id);
    if (log && known) {
      // An update carries no reactions, since each reader sees them otherwise: they stay.
      const reactions = known.reactions ? { reactions: known.reactions } : {};
      log.byId.set(message.id, { ...withOwnVotes(message, known), ...reactions });
      put(state, message.channel_id, log, touch);
    }
    changeAnswers(state, message.id, message, touch);
  },
  MESSAGE_DELETE(state, { channel_id: channelId, id }, touch) {
    drop(state, channelId, [id], touch);
  },
  MESSAGE_DELETE_BULK(state, { channel_id: channelId, ids }, touch) {
    drop(state, channelId, ids, touch);
  },
  MESSAGE_POLL_VOTE_ADD: (state, vote, touch) => changeVotes(state, vote, touch, 1),
  MESSAGE_POLL_VOTE_REMOVE: (state, vote, touch) => changeVotes(state, vote, touch, -1),
  MESSAGE_REACTION_ADD: react,
  MESSAGE_REACTION_ADD_MANY(state, data, touch, now) {
    for (const entry of data.reactions) react(state, { ...data, ...entry }, touch, now);
  },
  MESSAGE_REACTION_REMOVE(state, data, touch) {
    changeReactions(state, data, touch, (reactions) =>
      reactions
        .map((entry) =>
          keyOf(entry.emoji) === keyOf(data.emoji)
            ? { ...entry, count: entry.count - 1, me: entry.me && data.user_id !== state.session.me }
            : entry,
        )
        .filter((entry) => entry.count > 0),
    );
  },
  MESSAGE_REACTION_REMOVE_EMOJI(state, data, touch) {
    const others = (/** @type {Reaction} */ entry) => keyOf(entry.emoji) !== keyOf(data.emoji);
    changeReactions(state, data, touch, (reactions) => reactions.filter(others));
  },
  MESSAGE_REACTION_REMOVE_ALL(state, data, touch) {
    changeReactions(state, data, touch, () => []);
  },
};

/** @param {State} state @param {Payload} vote @param {Touch} touch @param {1 | -1} change */
function changeVotes(state, vote, touch, change) {
  const { channel_id: channelId, message_id: id } = vote;
  for (const { reacted } of state.fetching.get(channelId) ?? []) reacted.add(id);
  const log = state.logs.get(channelId);
  const message = log?.byId.get(id);
  if (!log || !message) return;
  log.byId.set(id, withVote(message, vote, state.session.me, change));
  put(state, channelId, log, touch);
}

/** @type {import("./shapes.js").Apply} */
function react(state, data, touch) {
  const mine = data.user_id === state.session.me;
  changeReactions(state, data, touch, (reactions) => {
    const known = reactions.find((entry) => keyOf(entry.emoji) === keyOf(data.emoji));
    if (!known) return [...reactions, { emoji: data.emoji, count: 1, me: mine }];
    const more = { ...known, count: known.count + 1, me: known.me || mine };
    return reactions.map((entry) => (entry === known ? more : entry));
  });
}

/**
 * What tells emojis apart: of a guild the id, of Unicode the name.
 * @param {{id?: Id | null, name: string}} emoji
 */
export function keyOf(emoji) {
  return emoji.id || emoji.name;
}

/**
 * @param {State} state
 * @param {Payload} data
 * @param {Touch} touch
 * @param {(reactions: Reaction[]) => Reaction[]} change
 */
function changeReactions(state, { channel_id: channelId, message_id: id }, touch, change) {
  for (const { reacted } of state.fetching.get(channelId) ?? []) reacted.add(id);
  const log = state.logs.get(channelId);
  const message = log?.byId.get(id);
  if (!log || !message) return;
  log.byId.set(id, { ...message, reactions: change(message.reactions ?? []) });
  put(state, channelId, log, touch);
}

/**
 * Take an ephemeral message out of sight; nobody else has it.
 * @param {State} state
 * @param {Message} message
 * @param {Touch} touch
 */
export function dismiss(state, message, touch) {
  drop(state, message.channel_id, [message.id], touch);
}

/**
 * @param {State} state
 * @param {Id} channelId
 * @param {Id[]} gone
 * @param {Touch} touch
 */
function drop(state, channelId, gone, touch) {
  for (const { deleted } of state.fetching.get(channelId) ?? []) for (const id of gone) deleted.add(id);
  for (const id of gone) state.ephemeral.get(channelId)?.delete(id);
  const log = state.logs.get(channelId);
  if (log && gone.filter((id) => log.byId.delete(id)).length > 0) {
    put(state, channelId, { ...log, ids: log.ids.filter((id) => log.byId.has(id)) }, touch);
  }
  for (const id of gone) changeAnswers(state, id, null, touch);
}

/**
 * What answers a message shows it, as long as it is there; a thread begins with one from elsewhere.
 * @param {State} state
 * @param {Id} id
 * @param {Message | null} answered
 * @param {Touch} touch
 */
function changeAnswers(state, id, answered, touch) {
  for (const [channelId, log] of state.logs) {
    let changed = false;
    for (const message of log.byId.values()) {
      if (message["message_reference"]?.message_id !== id || !("referenced_message" in message)) continue;
      log.byId.set(message.id, { ...message, referenced_message: answered });
      changed = true;
    }
    if (changed) put(state, channelId, log, touch);
  }
}

/**
 * @param {State} state
 * @param {Id} channelId
 * @param {Log} log
 * @param {Touch} touch
 */
function put(state, channelId, log, touch) {
  state.logs.set(channelId, { ...log });
  touch(`log:${channelId}`);
}

/**
 * At most MESSAGES_KEPT messages; what goes is there to be fetched again.
 * @param {Id[]} ids
 * @param {Map<Id, Message>} byId
 * @param {{before: boolean, after: boolean, keepsNewer: boolean}} ends
 */
function trimmed(ids, byId, { before, after, keepsNewer }) {
  const excess = ids.length - MESSAGES_KEPT;
  if (excess <= 0) return { ids, before, after };
  const gone = keepsNewer ? ids.slice(0, excess) : ids.slice(-excess);
  for (const id of gone) byId.delete(id);
  const kept = keepsNewer ? ids.slice(excess) : ids.slice(0, -excess);
  return { ids: kept, before: before || keepsNewer, after: after || !keepsNewer };
}
