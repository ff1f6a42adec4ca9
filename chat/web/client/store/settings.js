// The account's settings, in general and for guilds, and what it keeps at hand.

/** @type {import("./shapes.js").Applying} */
export const SETTINGS_EVENTS = {
  USER_SETTINGS_UPDATE(state, settings, touch) {
    state.settings = settings;
    touch("me");
    touch("guilds");
  },
  USER_GUILD_SETTINGS_UPDATE(state, entry, touch) {
    state.guildSettings.set(`${entry.guild_id}`, entry);
    touch("guilds");
    touch(`guild:${entry.guild_id}`);
  },
  USER_PINNED_DMS_UPDATE(state, pinned, touch) {
    state.pinned = pinned;
    touch("channels:@me");
  },
  FAVORITE_MEME_CREATE: putMeme,
  FAVORITE_MEME_UPDATE: putMeme,
  FAVORITE_MEME_DELETE(state, { meme_id: id }, touch) {
    state.memes = state.memes.filter((meme) => meme["id"] !== id);
    touch("me");
  },
  REMINDER_UPDATE(state, { message_id: id, told_at: toldAt }, touch) {
    if (toldAt === null) state.reminded.delete(id);
    else state.reminded.add(id);
    touch("channels:@me");
  },
  REMINDER_DELETE(state, { message_id: id }, touch) {
    state.reminded.delete(id);
    touch("channels:@me");
  },
};

/** @type {import("./shapes.js").Apply} */
function putMeme(state, meme, touch) {
  state.memes = [...state.memes.filter((other) => other["id"] !== meme.id), meme];
  touch("me");
}
