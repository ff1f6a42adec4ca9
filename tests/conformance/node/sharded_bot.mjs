// A bot on a shard is told of its guild, answers a message over HTTP, and is refused the shard that does not exist.
// node sharded_bot.mjs WORLD (none | zstd-stream)

import { GatewayClient, Rest, report, world as readWorld } from "./gateway_client.mjs";

const world = readWorld();
const compressed = process.argv[3] === "zstd-stream";
const count = 4;
const shard = Number((BigInt(world.guild_id) >> 22n) % BigInt(count));
const bot = new Rest(world.base_url, `Bot ${world.bot.token}`);
const alice = new Rest(world.base_url, world.users[0].token);

const { url } = await bot.request("GET", "/gateway/bot");
const home = await GatewayClient.connect(url, compressed);
await home.identify(world.bot.token, { shard: [shard, count] });
const ready = await home.dispatch("READY");
const guild = await home.dispatch("GUILD_CREATE");
report("home", { echo: ready.d.shard, expected: [shard, count], stubs: ready.d.guilds, guild_id: guild.d.id });

const away = await GatewayClient.connect(url, compressed);
await away.identify(world.bot.token, { shard: [(shard + 1) % count, count] });
report("away", { guilds: (await away.dispatch("READY")).d.guilds });

await alice.send(world.channel_id, "ping");
const ping = await home.dispatch("MESSAGE_CREATE", (d) => d.content === "ping");
await bot.send(ping.d.channel_id, "pong");
const pong = await home.dispatch("MESSAGE_CREATE", (d) => d.content === "pong");
report("pong", { author_id: pong.d.author.id });
report("silence", { away: away.payloads.some((payload) => payload.t === "MESSAGE_CREATE") });

const nowhere = await GatewayClient.connect(url, compressed);
await nowhere.identify(world.bot.token, { shard: [count, count] });
report("nowhere", await nowhere.closed);
for (const client of [home, away]) client.socket.close(1000);
report("gone", { home: await home.closed, away: await away.closed });
