// A library of webhooks, and two notification providers of uptime-kuma. Arguments: the webhook's address, its address for
// apprise, the folder of uptime-kuma.

const { MessageBuilder, Webhook } = require("discord-webhook-node");

const [url, forApprise, kuma] = process.argv.slice(2);
const Discord = require(`${kuma}/server/notification-providers/discord.js`);
const Apprise = require(`${kuma}/server/notification-providers/apprise.js`);

async function main() {
  const hook = new Webhook({ url, throwErrors: true });
  hook.setUsername("Node");
  await hook.send("from discord-webhook-node");
  await hook.send(new MessageBuilder().setTitle("A title").addField("name", "value", true).setColor("#00b0f4"));

  await new Discord().send({ discordWebhookUrl: url }, "uptime-kuma tries its provider");
  const monitor = { name: "Site", type: "http", url: "https://example.com" };
  const time = new Date().toISOString();
  const heartbeat = { status: 0, time, localDateTime: time, timezone: "UTC", msg: "no answer", ping: null };
  await new Discord().send({ discordWebhookUrl: url, discordPrefixMessage: "look" }, "", monitor, heartbeat);
  await new Apprise().send({ appriseURL: forApprise, title: "Uptime" }, "uptime-kuma by way of apprise");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
