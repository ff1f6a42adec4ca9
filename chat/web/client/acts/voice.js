// What a person does with voice: join a channel or a call, change what the others see of it, leave (opcode 4). Where
// sound and pictures go comes as Voice Server Update.

/** @typedef {import("../store/shapes.js").Id} Id */
/** @typedef {import("../store/shapes.js").Payload} Payload */
/**
 * @typedef {object} Own What a person chooses of its own voice state.
 * @property {boolean} self_mute
 * @property {boolean} self_deaf
 * @property {boolean} self_video
 * @property {boolean} self_stream
 */
/** @typedef {{guildId: Id | null, channelId: Id}} Room */
/** @typedef {{connectionId: string, token: string}} Placed `token` opens the room at the media server. */

const VOICE_STATE_UPDATE = 4;
/** So long an answer may take; a busy server lets 64 commands wait. */
const ANSWER_MS = 12_000;

/** A code of an acknowledgement that rejects, or `silent`: there was no answer. */
export class VoiceRefused extends Error {
  /** @param {string} code */
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/** @param {Pick<import("./acts.js").Parts, "connection" | "random">} parts */
export function makeVoiceActs({ connection, random }) {
  /** @type {Map<string, (ack: Payload) => void>} by mutation */
  const waiting = new Map();
  /** @type {Map<string, Payload>} the newest Voice Server Update of each connection */
  const servers = new Map();

  connection.hear((name, data) => {
    if (name === "VOICE_SERVER_UPDATE") servers.set(data.connection_id, data);
    else if (name === "VOICE_STATE_ACK") waiting.get(data.mutation_id)?.(data);
  });

  /**
   * Send a command and wait for its acknowledgement.
   * @param {Id | null} guildId
   * @param {Id | null} channelId
   * @param {string | null} connectionId
   * @param {Own} own
   * @returns {Promise<Payload>} Rejects with VoiceRefused.
   */
  async function tell(guildId, channelId, connectionId, own) {
    const mutation = random();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    /** @type {Promise<Payload>} */
    const answered = new Promise((resolve, reject) => {
      waiting.set(mutation, resolve);
      timer = setTimeout(() => reject(new VoiceRefused("silent")), ANSWER_MS);
    });
    try {
      const where = { guild_id: guildId, channel_id: channelId, connection_id: connectionId };
      connection.command(VOICE_STATE_UPDATE, { ...where, ...own, mutation_id: mutation });
      const ack = await answered;
      if (ack.status !== "applied") throw new VoiceRefused(ack.error_code);
      return ack;
    } finally {
      clearTimeout(timer);
      waiting.delete(mutation);
    }
  }

  return {
    /**
     * Enter a channel or a call, with a new connection or with one that is elsewhere in the same guild.
     * @param {Room} room
     * @param {Own} own
     * @param {string | null} [from]
     * @returns {Promise<Placed>} Rejects with VoiceRefused.
     */
    async join({ guildId, channelId }, own, from = null) {
      if (from !== null) servers.delete(from);
      const { connection_id: connectionId } = await tell(guildId, channelId, from, own);
      const server = servers.get(connectionId);
      if (!server) throw new VoiceRefused("no_engine");
      return { connectionId, token: server["token"] };
    },
    /**
     * Tell the others what changed.
     * @param {Room} room
     * @param {string} connectionId
     * @param {Own} own
     */
    change: ({ guildId, channelId }, connectionId, own) => tell(guildId, channelId, connectionId, own),
    /**
     * Leave. Nothing is awaited: it is done when the page goes away, too.
     * @param {Id | null} guildId
     * @param {string} connectionId
     */
    leave(guildId, connectionId) {
      const where = { guild_id: guildId, channel_id: null, connection_id: connectionId };
      connection.command(VOICE_STATE_UPDATE, where);
    },
  };
}
