// Bob connects, hears alice, is cut off, resumes and has missed nothing.
// node conversation.mjs WORLD (none | zstd-stream)

import { GatewayClient, Rest, gatewayUrl, report, world as readWorld } from "./gateway_client.mjs";

const world = readWorld();
const compressed = process.argv[3] === "zstd-stream";
const [alice, bob] = world.users;
const url = await gatewayUrl(world);
const rest = new Rest(world.base_url, alice.token);

const first = await GatewayClient.connect(url, compressed);
report("hello", { interval: first.hello.d.heartbeat_interval });
await first.heartbeat();
await first.identify(bob.token);
const ready = await first.dispatch("READY");
report("ready", { s: ready.s, user_id: ready.d.user.id, guilds: ready.d.guilds.map((guild) => guild.id) });

const said = await rest.send(world.channel_id, "grüße ✉ 😀");
const heard = await first.dispatch("MESSAGE_CREATE");
report("message", { same: heard.d.id === said.id, content: heard.d.content });
for (let number = 0; number < 50; number++) await rest.send(world.channel_id, `${number} ` + "again and again ".repeat(20));
await first.dispatch("MESSAGE_CREATE", (d) => d.content.startsWith("49 "));
const numbers = first.payloads.filter((payload) => payload.op === 0).map((payload) => payload.s);
report("numbers", { gapless: numbers.every((s, at) => s === at + 1), last: first.sequence });
const ack = await first.heartbeat();
report("heartbeat", { ack });

await rest.request("POST", "/_dev/faults", { action: "drop", target: { session_id: ready.d.session_id } });
report("dropped", await first.closed);
const missed = await rest.send(world.channel_id, "missed");

const second = await GatewayClient.connect(url, compressed);
await second.resume(bob.token, ready.d.session_id, first.sequence);
const resumed = await second.dispatch("RESUMED");
const replayed = second.payloads.filter((payload) => payload.op === 0 && payload.t !== "RESUMED");
report("resumed", {
  caught_up: replayed.some((payload) => payload.d.id === missed.id),
  first: replayed[0].s - first.sequence,
  repeats: resumed.s === replayed.at(-1).s,
});
await rest.send(world.channel_id, "live again");
const live = await second.dispatch("MESSAGE_CREATE", (d) => d.content === "live again");
report("live", { next: live.s - resumed.s });

report("frames", { first: [...first.frames], second: [...second.frames] });
await second.say(2, null);
report("closed", await second.closed);
