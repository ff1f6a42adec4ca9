// discord.js' webhook client and @discordjs/rest beneath it, told of the server's address. Arguments: the address of the
// API, the webhook's id, its token.

import { Buffer } from "node:buffer";
import process from "node:process";
import { AttachmentBuilder, EmbedBuilder, WebhookClient } from "discord.js";

const [api, id, token] = process.argv.slice(2);
const client = new WebhookClient({ id, token }, { rest: { api } });
const embed = new EmbedBuilder()
  .setTitle("Build")
  .setColor(0x57f287)
  .addFields({ name: "\u200b", value: "\u200b", inline: true }, { name: "Branch", value: "main", inline: true })
  .setTimestamp(new Date(-14182940000))
  .setImage("attachment://plot.png");
const plot = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const sent = await client.send({
  content: "from discord.js",
  username: "Builder",
  embeds: [embed],
  files: [new AttachmentBuilder(plot, { name: "plot.png" })],
});
await client.editMessage(sent.id, { content: "edited by discord.js" });
const gone = await client.send("deleted by discord.js");
await client.deleteMessage(gone.id);
client.destroy();
