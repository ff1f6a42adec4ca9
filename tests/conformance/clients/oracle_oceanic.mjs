// Oceanic without a network: it is given what the mount has shown a bot, and all that it makes of it is read.

import { readFileSync } from "node:fs";
import { AllIntents, Client, Shard } from "oceanic.js";
import { Reading } from "./reading.mjs";

const recorded = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { ids } = recorded;
const objects = new Map(Object.entries(recorded.objects).map(([path, body]) => [path.split("?")[0], body]));
const OWN = ["Client", "Shard", "ShardManager", "RESTManager", "client", "shard"];
const reading = new Reading([...OWN, "voiceAdapterCreator", "GuildTemplate"]);
const copy = (value) => JSON.parse(JSON.stringify(value));

const client = new Client({ auth: "Bot token", gateway: { intents: [AllIntents], getAllUsers: false } });
client.rest.handler.request = async ({ method, path }) => {
  if (method !== "GET" || !objects.has(path)) throw new Error(`${method} ${path} is not recorded`);
  return copy(objects.get(path));
};
client.emit = (name, ...parts) => {
  if (name === "error") reading.fault("error", String(parts[0]?.stack ?? parts[0]));
  else if (!["debug", "packet", "warn"].includes(name)) for (const part of parts) reading.read(`event ${name}`, part);
  return true;
};

function fetches() {
  const { applications, channels, guilds, oauth, users, webhooks } = client.rest;
  const { guild, channel } = ids;
  return {
    me: () => oauth.getCurrentUser(),
    user: () => users.get(ids.bob),
    guild: () => guilds.get(guild, true),
    guilds: () => oauth.getCurrentGuilds({ withCounts: true }),
    preview: () => guilds.getPreview(guild),
    application: () => applications.getCurrent(),
    "oauth application": () => oauth.getApplication(),
    commands: () => applications.getGlobalCommands(ids.application),
    invite: () => channels.getInvite(ids.invite, { withCounts: true }),
    webhook: () => webhooks.get(ids.webhook),
    channels: () => guilds.getChannels(guild),
    roles: () => guilds.getRoles(guild),
    role: () => guilds.getRole(guild, ids.role),
    emojis: () => guilds.getEmojis(guild),
    emoji: () => guilds.getEmoji(guild, ids.emoji),
    stickers: () => guilds.getStickers(guild),
    sticker: () => guilds.getSticker(guild, ids.sticker),
    bans: () => guilds.getBans(guild),
    ban: () => guilds.getBan(guild, ids.carol),
    invites: () => guilds.getInvites(guild),
    webhooks: () => webhooks.getForGuild(guild),
    "audit log": () => guilds.getAuditLog(guild),
    members: () => guilds.getMembers(guild, { limit: 100 }),
    member: () => guilds.getMember(guild, ids.bob),
    threads: () => guilds.getActiveThreads(guild),
    rules: () => guilds.getAutoModerationRules(guild),
    "scheduled events": () => guilds.getScheduledEvents(guild),
    integrations: () => guilds.getIntegrations(guild),
    ...Object.fromEntries(
      ["text", "voice", "private", "thread", "news", "forum"]
        .filter((name) => ids[name])
        .map((name) => [name, () => channels.get(ids[name])]),
    ),
    "thread members": () => channels.getThreadMembers(ids.thread),
    history: () => channels.getMessages(channel, { limit: 50 }),
    message: () => channels.getMessage(channel, ids.message),
    pins: () => channels.getPins(channel),
    "channel invites": () => channels.getInvites(channel),
    "channel webhooks": () => webhooks.getForChannel(channel),
  };
}

const shard = new Shard(0, client.shards);
client.shards.set(0, shard);
const beforeTheEnd = recorded.events.map(([name]) => name).lastIndexOf("GUILD_MEMBERS_CHUNK");
for (const [index, [name, data]] of recorded.events.entries()) {
  for (const heard of client.shards.dispatcher.events.get(name) ?? []) {
    await reading.noting(`parsing ${name}`, () => heard(copy(data), shard));
  }
  if (index !== beforeTheEnd) continue;
  for (const [what, fetch] of Object.entries(fetches())) {
    await reading.noting(`fetching ${what}`, async () => reading.read(`fetched ${what}`, await fetch()));
  }
}
reading.report();
process.exit(0);
