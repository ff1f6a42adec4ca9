// Oceanic, which takes another server's address as an option.

import { Client } from "oceanic.js";
import { alice, origin, report, world } from "./reports.mjs";

const client = new Client({
  auth: `Bot ${world.bot.token}`,
  rest: { baseURL: `${origin}/api/v10` },
  gateway: { intents: ["GUILDS", "GUILD_MESSAGES", "GUILD_MESSAGE_REACTIONS", "MESSAGE_CONTENT"] },
});
const own = [];

client.once("ready", () => report("ready", { user_id: client.user.id, guilds: [...client.guilds.keys()] }));
client.on("messageCreate", async (message) => {
  if (message.author.id !== alice.id) return;
  const channel = message.channelID;
  switch (message.content) {
    case "reply":
      own.push(await client.rest.channels.createMessage(channel, { content: "hello", messageReference: { messageID: message.id } }));
      return report("reply", { id: own.at(-1).id });
    case "edit":
      return report("edit", { content: (await own.at(-1).edit({ content: "hello again" })).content });
    case "react":
      await message.createReaction("👍");
      return report("react");
    case "delete":
      await own.pop().delete();
      return report("delete");
    case "fetch": {
      const guild = await client.rest.guilds.get(world.guild_id);
      const members = await client.rest.guilds.getMembers(world.guild_id, { limit: 100 });
      const channels = await client.rest.guilds.getChannels(world.guild_id);
      const history = await client.rest.channels.getMessages(channel, { limit: 2 });
      return report("fetch", {
        guild: guild.name,
        members: members.map((member) => member.id),
        channels: channels.map((each) => each.id),
        history: history.map((each) => each.content),
      });
    }
    case "bye":
      return client.disconnect(false);
    default:
      return report("heard", { content: message.content });
  }
});
client.on("messageUpdate", (message) => {
  if (message.author?.id === alice.id) report("edit_heard", { content: message.content });
});
client.on("messageDelete", (message) => report("deletion_heard", { id: message.id }));
client.on("messageReactionAdd", (message, reactor, reaction) => {
  if (reactor.id === alice.id) report("reaction_heard", { emoji: reaction.emoji.name });
});
client.on("shardResume", () => report("resumed"));
client.on("error", (error) => console.error(error));

await client.connect();
