// What passes: who types, who is in voice, which calls ring.

export const TYPING_MS = 10_000;

/** @typedef {import("./shapes.js").Payload} Payload */
/**
 * A connection is in one channel; it says so with each change, and leaves with a channel of null.
 * @param {import("./shapes.js").State} state
 * @param {Payload} voice
 */
export function putVoiceState(state, voice) {
  const key = voice.connection_id ?? voice.user_id;
  for (const [channelId, connections] of state.voice) {
    if (connections.delete(key) && connections.size === 0) state.voice.delete(channelId);
  }
  if (!voice.channel_id) return;
  const connections = state.voice.get(voice.channel_id) ?? new Map();
  state.voice.set(voice.channel_id, connections.set(key, voice));
}

/** @type {import("./shapes.js").Applying} */
export const PASSING_EVENTS = {
  TYPING_START(state, { channel_id: channelId, user_id: userId }, touch, now) {
    const people = state.typing.get(channelId) ?? new Map();
    state.typing.set(channelId, people.set(userId, now + TYPING_MS));
    touch(`typing:${channelId}`);
  },
  MESSAGE_CREATE(state, { channel_id: channelId, author }, touch) {
    if (state.typing.get(channelId)?.delete(author.id)) touch(`typing:${channelId}`);
  },
  VOICE_STATE_UPDATE(state, voice, touch) {
    putVoiceState(state, voice);
    touch(`voice:${voice.guild_id ?? voice.channel_id}`);
  },
  CALL_CREATE: putCall,
  CALL_UPDATE: putCall,
  CALL_DELETE(state, { channel_id: channelId }, touch) {
    state.calls.delete(channelId);
    state.voice.delete(channelId);
    touch(`voice:${channelId}`);
  },
};

/**
 * A call names everybody who is in it: a new session hears of them in no other way.
 * @type {import("./shapes.js").Apply}
 */
function putCall(state, { voice_states: voices, ...call }, touch) {
  state.calls.set(call.channel_id, { ...state.calls.get(call.channel_id), ...call });
  if (voices?.length > 0) {
    const connections = voices.map((/** @type {Payload} */ one) => [one.connection_id ?? one.user_id, one]);
    state.voice.set(call.channel_id, new Map(connections));
  } else if (voices) state.voice.delete(call.channel_id);
  touch(`voice:${call.channel_id}`);
}
