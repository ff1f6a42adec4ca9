// Eris, which takes another server's name as an option. It asks over HTTPS on port 443 alone: the agent, an option too,
// stands for a proxy with a certificate there.

import https from "node:https";
import net from "node:net";
import Eris from "eris";
import { alice, origin, report, world } from "./reports.mjs";

const { hostname, port } = new URL(origin);

class Proxy extends https.Agent {
  createConnection() {
    return net.connect({ host: hostname, port: Number(port) });
  }
}

const client = new Eris(`Bot ${world.bot.token}`, {
  intents: ["guilds", "guildMessages", "guildMessageReactions", "messageContent"],
  restMode: true,
  rest: { domain: hostname, agent: new Proxy() },
});
const own = [];

client.once("ready", () => report("ready", { user_id: client.user.id, guilds: [...client.guilds.keys()] }));
client.on("messageCreate", async (message) => {
  if (message.author.id !== alice.id) return;
  const channel = message.channel.id;
  switch (message.content) {
    case "reply":
      own.push(await client.createMessage(channel, { content: "hello", messageReference: { messageID: message.id } }));
      return report("reply", { id: own.at(-1).id });
    case "edit":
      return report("edit", { content: (await own.at(-1).edit({ content: "hello again" })).content });
    case "react":
      await message.addReaction("👍");
      return report("react");
    case "delete":
      await own.pop().delete();
      return report("delete");
    case "fetch": {
      const guild = await client.getRESTGuild(world.guild_id);
      const members = await client.getRESTGuildMembers(world.guild_id, { limit: 100 });
      const channels = await client.getRESTGuildChannels(world.guild_id);
      const history = await client.getMessages(channel, { limit: 2 });
      return report("fetch", {
        guild: guild.name,
        members: members.map((member) => member.id),
        channels: channels.map((each) => each.id),
        history: history.map((each) => each.content),
      });
    }
    case "bye":
      return client.disconnect({ reconnect: false });
    default:
      return report("heard", { content: message.content });
  }
});
client.on("messageUpdate", (message) => {
  if (message.author?.id === alice.id) report("edit_heard", { content: message.content });
});
client.on("messageDelete", (message) => report("deletion_heard", { id: message.id }));
client.on("messageReactionAdd", (message, emoji, reactor) => {
  if (reactor.id === alice.id) report("reaction_heard", { emoji: emoji.name });
});
client.on("shardResume", () => report("resumed"));
client.on("error", (error) => console.error(error));

await client.connect();
