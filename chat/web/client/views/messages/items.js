// What a list shows: the mounted part of a log and, at its end, what is on its way to the server.

import { isEphemeral } from "../../store/interactions.js";
import { compareIds } from "../../store/shapes.js";
import { indexAt, slice } from "./window.js";

/** @typedef {import("./row.js").Item} Item */
/** @typedef {import("./window.js").Range} Range */
/** @typedef {import("../../store/shapes.js").Log} Log */
/** @typedef {import("../../store/shapes.js").Message} Message */
/** @typedef {import("../../store/shapes.js").Unsent} Unsent */
/** @typedef {import("../../store/shapes.js").User} User */
/**
 * @typedef {object} ListParts
 * @property {import("../../store/store.js").Store} store
 * @property {import("../../acts/acts.js").Acts} acts
 * @property {string} channelId
 * @property {string | null} guildId
 * @property {(act: string, message: Message, element: HTMLElement) => void} on what is not the list's own: reply, edit,
 *   delete, pick, menu, profile, view, thread, channel, link
 * @property {(words: string) => void} announce
 * @property {(error: unknown) => void} report
 * @property {() => Node[]} [beginning] what stands above the first message
 * @property {() => boolean} [isWatched] whether someone looks at the page
 */

/**
 * @param {{log: Log, range: Range, line: string | null, outgoing: Unsent[], me: User | undefined,
 *   keys: Map<string, string>}} parts
 * `keys` has the keys of rows that stood for a message before it had an id: the message keeps the row.
 * @returns {Item[]}
 */
export function itemsOf({ log, range, line, outgoing, me, keys }) {
  const [from, to] = slice(log.ids, range);
  /** @type {Item[]} */
  const items = [];
  let before = from > 0 ? log.byId.get(log.ids[from - 1] ?? "") : undefined;
  for (const id of log.ids.slice(from, to)) {
    const message = log.byId.get(id);
    if (message === undefined) continue;
    const key = (message.nonce && keys.get(message.nonce)) || id;
    items.push({ key, message, before, isUnread: id === line, sending: null, fault: null });
    before = message;
  }
  if (!range.end || log.after) return items;
  const there = new Set(items.map((item) => item.message.nonce).filter((nonce) => !!nonce));
  for (const one of outgoing) {
    if (there.has(one.nonce) || me === undefined) continue;
    const key = `nonce:${one.nonce}`;
    keys.set(one.nonce, key);
    const message = waiting(one, me);
    items.push({ key, message, before, isUnread: false, sending: one.state, fault: one.fault });
    before = message;
  }
  return items;
}

/**
 * The accounts that rows name: authors, those who are mentioned, authors of what is answered.
 * @param {readonly Item[]} items
 * @returns {Set<string>}
 */
export function namedIn(items) {
  const ids = new Set();
  for (const { message } of items) {
    for (const one of [message, message.referenced_message]) {
      if (!one || one.webhook_id) continue;
      if (one.author) ids.add(one.author.id);
      for (const mentioned of one.mentions ?? []) ids.add(mentioned.id);
      if (one.interaction_metadata) ids.add(one.interaction_metadata.user.id);
    }
  }
  return ids;
}

/**
 * What is on its way into a channel, oldest first.
 * @param {ReadonlyMap<string, Unsent>} outbox
 * @param {string} channelId
 */
export function outgoing(outbox, channelId) {
  return [...outbox].flatMap(([nonce, one]) => (one.channel === channelId ? [{ ...one, nonce }] : []));
}

/**
 * A message that has no id yet.
 * @param {Unsent} one
 * @param {User} me
 * @returns {Message}
 */
function waiting(one, me) {
  /** @type {{content?: string, sticker_ids?: string[], message_reference?: import("wire").MessageReference}} */
  const { content = "", sticker_ids: stickers = [], message_reference: reference } = one.body;
  return {
    id: "",
    channel_id: one.channel,
    nonce: one.nonce,
    type: reference ? 19 : 0,
    author: me,
    content,
    timestamp: new Date(one.since).toISOString(),
    edited_timestamp: null,
    flags: 0,
    pinned: false,
    mention_everyone: false,
    tts: false,
    mentions: [],
    mention_roles: [],
    embeds: [],
    attachments: [],
    stickers: stickers.map((id) => ({ id, name: "", animated: false })),
    components: [],
    ...(reference && { message_reference: reference, referenced_message: one.referenced }),
  };
}

/**
 * The first message that the reader has not seen: the line stands above it. None where all is read or none was.
 * @param {Log | undefined} log
 * @param {string | null} last the newest that is read
 * @param {string | undefined} myId
 * @returns {string | null}
 */
export function firstUnread(log, last, myId) {
  if (log === undefined || last === null) return null;
  const at = indexAt(log.ids, last);
  const start = log.ids[at] === last ? at + 1 : at;
  const unread = log.ids.slice(start).filter((id) => !isEphemeral(log.byId.get(id) ?? { flags: 0 }));
  // One's own words are read: the line stands above the first of another after them.
  const own = unread.findLastIndex((id) => log.byId.get(id)?.author.id === myId);
  return unread[own + 1] ?? null;
}

/**
 * How many messages of others came after one.
 * @param {Log} log
 * @param {string | null} id
 * @param {string | undefined} myId
 */
export function countAfter(log, id, myId) {
  if (id === null) return 0;
  let count = 0;
  for (let index = log.ids.length - 1; index >= 0 && compareIds(log.ids[index] ?? "", id) > 0; index -= 1) {
    if (log.byId.get(log.ids[index] ?? "")?.author.id !== myId) count += 1;
  }
  return count;
}
