// discord.js without a network: it is given what the mount has shown a bot, and all that it makes of it is read.

import { readFileSync } from "node:fs";
import { Client, GatewayIntentBits, Partials } from "discord.js";
import { Reading } from "./reading.mjs";

const recorded = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { ids } = recorded;
const objects = new Map(Object.entries(recorded.objects).map(([path, body]) => [path.split("?")[0], body]));
const reading = new Reading(["Client", "ClientPresence", "WebSocketShard", "WebSocketManager", "REST", "client", "shard"]);
const copy = (value) => JSON.parse(JSON.stringify(value));

const client = new Client({
  intents: Object.values(GatewayIntentBits).filter((bit) => typeof bit === "number"),
  partials: Object.values(Partials).filter((part) => typeof part === "number"),
});
client.token = "token";
client.rest.get = async (path) => {
  if (!objects.has(path)) throw new Error(`GET ${path} is not recorded`);
  return copy(objects.get(path));
};
client.emit = (name, ...parts) => {
  if (name !== "debug" && name !== "raw") for (const part of parts) reading.read(`event ${name}`, part);
  return true;
};
client.ws.status = 0;

function fetches() {
  const guild = client.guilds.cache.get(ids.guild);
  const channel = client.channels.cache.get(ids.channel);
  return {
    user: () => client.users.fetch(ids.bob, { force: true }),
    guild: () => client.guilds.fetch({ guild: ids.guild, force: true }),
    guilds: () => client.guilds.fetch(),
    preview: () => client.fetchGuildPreview(ids.guild),
    application: () => client.application.fetch(),
    commands: () => client.application.commands.fetch(),
    invite: () => client.fetchInvite(ids.invite),
    webhook: () => client.fetchWebhook(ids.webhook),
    channels: () => guild.channels.fetch(),
    roles: () => guild.roles.fetch(),
    role: () => guild.roles.fetch(ids.role, { force: true }),
    emojis: () => guild.emojis.fetch(),
    emoji: () => guild.emojis.fetch(ids.emoji, { force: true }),
    stickers: () => guild.stickers.fetch(),
    sticker: () => guild.stickers.fetch(ids.sticker, { force: true }),
    bans: () => guild.bans.fetch(),
    ban: () => guild.bans.fetch({ user: ids.carol, force: true }),
    invites: () => guild.invites.fetch(),
    webhooks: () => guild.fetchWebhooks(),
    "audit log": () => guild.fetchAuditLogs(),
    members: () => guild.members.list({ limit: 100 }),
    member: () => guild.members.fetch({ user: ids.bob, force: true }),
    threads: () => guild.channels.fetchActiveThreads(),
    rules: () => guild.autoModerationRules.fetch(),
    "scheduled events": () => guild.scheduledEvents.fetch(),
    integrations: () => guild.fetchIntegrations(),
    ...Object.fromEntries(
      ["text", "voice", "private", "thread", "news", "forum"]
        .filter((name) => ids[name])
        .map((name) => [name, () => client.channels.fetch(ids[name], { force: true })]),
    ),
    "thread members": () => client.channels.cache.get(ids.thread).members.fetch(),
    history: () => channel.messages.fetch({ limit: 50 }),
    message: () => channel.messages.fetch({ message: ids.message, force: true }),
    pins: () => channel.messages.fetchPins(),
    "channel invites": () => channel.fetchInvites(),
    "channel webhooks": () => channel.fetchWebhooks(),
  };
}

const shard = { id: 0, checkReady() {}, gotGuild() {}, onReadyPacket() {} };
const beforeTheEnd = recorded.events.map(([name]) => name).lastIndexOf("GUILD_MEMBERS_CHUNK");
for (const [index, [name, data]] of recorded.events.entries()) {
  await reading.noting(`parsing ${name}`, () => client.ws.handlePacket({ t: name, d: copy(data) }, shard));
  if (index !== beforeTheEnd) continue;
  for (const [what, fetch] of Object.entries(fetches())) {
    await reading.noting(`fetching ${what}`, async () => reading.read(`fetched ${what}`, await fetch()));
  }
}
reading.report();
process.exit(0);
