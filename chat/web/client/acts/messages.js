// What is done with messages.

import { beginFetch, putPage, putReactions } from "../store/logs.js";
import { compareIds } from "../store/shapes.js";
import { makeOutbox } from "./outbox.js";

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {import("../store/shapes.js").Id} Id */
/** @typedef {import("../store/shapes.js").Message} Message */
/** @typedef {{id?: Id | null, name: string}} Emoji */
/**
 * @typedef {{file: File, description: string, isSpoiler: boolean, progress: number,
 *   controller: AbortController}} Upload
 */
/**
 * @typedef {object} Draft
 * @property {string} content
 * @property {Message | null} [reply] The message that it answers.
 * @property {boolean} [pings] Whether its author is told of the answer.
 * @property {Upload[]} [files]
 * @property {() => void} [progress] Called as the files go up.
 * @property {Id[]} [stickers]
 * @property {Id} [meme] A picture that the account keeps.
 */

const SPOILER_FLAG = 1 << 3;
const ATTEMPTS = 3;

/** @param {Parts} parts */
export function makeMessageActs(parts) {
  const { store, rest, random } = parts;
  const outbox = makeOutbox(parts);

  /**
   * @param {Id} channelId
   * @param {Id} messageId
   */
  const at = (channelId, messageId) => /** @type {const} */ (`/channels/${channelId}/messages/${messageId}`);

  /**
   * Fetches a page of the history into the store.
   * @param {Id} channelId
   * @param {{before?: Id, after?: Id, around?: Id, limit: number}} page
   */
  async function history(channelId, page) {
    const newestBefore = store.read.channels.get(channelId)?.last_message_id;
    const settled = beginFetch(store.read, channelId);
    const fetched = await rest.get(`/channels/${channelId}/messages`, { query: page }).catch((error) => {
      settled([]);
      throw error;
    });
    const messages = settled(fetched);
    const newest = store.read.channels.get(channelId)?.last_message_id;
    const isFull = fetched.length >= page.limit;
    const last = messages[0]?.id ?? "";
    const isOvertaken = !!newest && newest !== newestBefore && compareIds(last, newest) < 0;
    /** @type {{before: boolean, after: boolean, joins?: "before" | "after"}} */
    const ends = page.before
      ? { before: isFull, after: true, joins: "before" }
      : page.after
        ? { before: true, after: isFull, joins: "after" }
        : page.around
          ? { before: isFull, after: isFull && !!newest && compareIds(last, newest) < 0 }
          : { before: isFull, after: isOvertaken };
    store.put((state, touch) => putPage(state, channelId, messages, ends, touch));
    const unsure = messages.filter(({ id }) => settled.reacted.has(id));
    await Promise.all(unsure.map(({ id }) => countReactions(channelId, id)));
  }

  /**
   * Fetches a message's reactions until none comes or goes meanwhile.
   * @param {Id} channelId
   * @param {Id} messageId
   */
  async function countReactions(channelId, messageId) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const settled = beginFetch(store.read, channelId);
      const fetched = await rest.get(at(channelId, messageId)).catch(() => null);
      const [message] = settled(fetched === null ? [] : [fetched]);
      if (!message) return;
      store.put((state, touch) => putReactions(state, message, touch));
      if (!settled.reacted.has(messageId)) return;
    }
  }

  /**
   * @param {Id} channelId
   * @param {Draft} draft
   */
  async function send(channelId, draft) {
    const body = bodyOf(channelId, draft);
    const nonce = random();
    if (!draft.files?.length) return outbox.add(nonce, channelId, body, draft.reply ?? null);
    return rest.post(`/channels/${channelId}/messages`, formOf({ ...body, nonce }, draft));
  }

  return {
    history,
    send,
    retry: outbox.retry,
    discard: outbox.discard,
    resume: outbox.resume,
    load: outbox.load,
    /** @param {Id} channelId @param {Id} messageId @param {string} content */
    edit: (channelId, messageId, content) => rest.patch(at(channelId, messageId), { body: { content } }),
    /** @param {Id} channelId @param {Id} messageId */
    delete: (channelId, messageId) => rest.delete(at(channelId, messageId)),
    /** @param {Id} channelId @param {Id} messageId @param {Emoji} emoji */
    react: (channelId, messageId, emoji) => rest.put(`${at(channelId, messageId)}/reactions/${nameOf(emoji)}/@me`),
    /** @param {Id} channelId @param {Id} messageId @param {Emoji} emoji */
    unreact: (channelId, messageId, emoji) => rest.delete(`${at(channelId, messageId)}/reactions/${nameOf(emoji)}/@me`),
    /**
     * Who reacted with an emoji.
     * @param {Id} channelId
     * @param {Id} messageId
     * @param {Emoji} emoji
     * @param {number} limit
     */
    reactors: (channelId, messageId, emoji, limit) =>
      rest.get(`${at(channelId, messageId)}/reactions/${nameOf(emoji)}`, { query: { limit } }),
    /** @param {Id} channelId @param {Id} messageId */
    pin: (channelId, messageId) => rest.put(`/channels/${channelId}/pins/${messageId}`),
    /** @param {Id} channelId @param {Id} messageId */
    unpin: (channelId, messageId) => rest.delete(`/channels/${channelId}/pins/${messageId}`),
    /** @param {Id} channelId @param {string} [before] The time of a pin. */
    pins: (channelId, before) => rest.get(`/channels/${channelId}/messages/pins`, { query: { limit: 50, before } }),
    /** @param {Id} channelId */
    typing: (channelId) => rest.post(`/channels/${channelId}/typing`).catch(() => null),
    /** A copy of a message goes into another channel. @param {Id} toId @param {Message} message */
    forward(toId, message) {
      const { id, channel_id, guild_id = null } = message;
      const reference = { type: /** @type {const} */ (1), channel_id, message_id: id, guild_id };
      return rest.post(`/channels/${toId}/messages`, { body: { message_reference: reference, nonce: random() } });
    },
    /** To all channels that follow this one. @param {Id} channelId @param {Id} messageId */
    publish: (channelId, messageId) => rest.post(`${at(channelId, messageId)}/crosspost`),
    /** What is published there comes to another channel. @param {Id} channelId @param {Id} toId */
    follow: (channelId, toId) => rest.post(`/channels/${channelId}/followers`, { body: { webhook_channel_id: toId } }),
    /** @param {Id} channelId @param {Id} messageId */
    save: (channelId, messageId) =>
      rest.post("/users/@me/saved-messages", { body: { channel_id: channelId, message_id: messageId } }),
    /** @param {Id} messageId */
    unsave: (messageId) => rest.delete(`/users/@me/saved-messages/${messageId}`),
    saved: () => rest.get("/users/@me/saved-messages", { query: { limit: 100 } }),
    /** Messages that mention the account, the newest first. */
    mentions: () => rest.get("/users/@me/mentions", { query: { limit: 50 } }),
    /**
     * @param {Id} channelId
     * @param {Id} messageId
     * @param {import("wire").ReportMessageBody["category"]} category
     * @param {string | null} words
     */
    report(channelId, messageId, category, words) {
      const body = { channel_id: channelId, message_id: messageId, category, additional_info: words };
      return rest.post("/reports/message", { body });
    },
    /** @param {import("wire").Body<"POST", "/v1/search/messages">} search @param {AbortSignal} [signal] */
    search: (search, signal) => rest.post("/search/messages", { body: search, signal }),
  };
}

/**
 * An emoji as a path names it.
 * @param {Emoji} emoji
 */
function nameOf({ id, name }) {
  return encodeURIComponent(id ? `${name}:${id}` : name);
}

/**
 * A draft as the server takes it, without its files.
 * @param {Id} channelId
 * @param {Draft} draft
 */
export function bodyOf(channelId, { content, reply, pings = true, stickers = [], meme }) {
  return {
    content,
    ...(reply && { message_reference: { message_id: reply.id, channel_id: channelId, type: 0 } }),
    ...(reply && !pings && { allowed_mentions: { parse: ["users", "roles", "everyone"], replied_user: false } }),
    ...(stickers.length > 0 && { sticker_ids: stickers }),
    ...(meme !== undefined && { favorite_meme_id: meme }),
  };
}

/**
 * A message with the files of its draft, as a form that goes up with its progress.
 * @param {Record<string, unknown>} body
 * @param {Draft} draft
 */
export function formOf(body, { files = [], progress = () => {} }) {
  const form = new FormData();
  const attachments = files.map(({ file, description, isSpoiler }, id) => ({
    id,
    filename: file.name,
    ...(description && { description }),
    ...(isSpoiler && { flags: SPOILER_FLAG }),
  }));
  form.append("payload_json", JSON.stringify({ ...body, attachments }));
  for (const [id, { file }] of files.entries()) form.append(`files[${id}]`, file, file.name);
  const signal = AbortSignal.any(files.map(({ controller }) => controller.signal));
  const told = (/** @type {number} */ done) => {
    for (const one of files) one.progress = done;
    progress();
  };
  return { form, progress: told, signal };
}
