// discord.js, which takes another server's address as an option.

import { Client, Events, GatewayIntentBits, Partials } from "discord.js";
import { alice, origin, report, world } from "./reports.mjs";

const client = new Client({
  intents: [
    GatewayIntentBits.Guilds,
    GatewayIntentBits.GuildMessages,
    GatewayIntentBits.GuildMessageReactions,
    GatewayIntentBits.MessageContent,
  ],
  partials: [Partials.Message, Partials.Reaction],
  rest: { api: `${origin}/api` },
});
const own = [];

client.once(Events.ClientReady, () =>
  report("ready", { user_id: client.user.id, guilds: [...client.guilds.cache.keys()] }),
);
client.on(Events.MessageCreate, async (message) => {
  if (message.author.id !== alice.id) return;
  switch (message.content) {
    case "reply":
      own.push(await message.reply("hello"));
      return report("reply", { id: own.at(-1).id });
    case "edit":
      return report("edit", { content: (await own.at(-1).edit("hello again")).content });
    case "react":
      await message.react("👍");
      return report("react");
    case "delete":
      await own.pop().delete();
      return report("delete");
    case "fetch": {
      const guild = await client.guilds.fetch({ guild: world.guild_id, force: true });
      const members = await guild.members.list({ limit: 100 });
      const channels = await guild.channels.fetch();
      const history = await message.channel.messages.fetch({ limit: 2, cache: false });
      return report("fetch", {
        guild: guild.name,
        members: [...members.keys()],
        channels: [...channels.keys()],
        history: [...history.values()].map((each) => each.content),
      });
    }
    case "bye":
      return client.destroy();
    default:
      return report("heard", { content: message.content });
  }
});
client.on(Events.MessageUpdate, (_, message) => {
  if (message.author.id === alice.id) report("edit_heard", { content: message.content });
});
client.on(Events.MessageDelete, (message) => report("deletion_heard", { id: message.id }));
client.on(Events.MessageReactionAdd, (reaction, user) => {
  if (user.id === alice.id) report("reaction_heard", { emoji: reaction.emoji.name });
});
client.on(Events.ShardResume, () => report("resumed"));

await client.login(world.bot.token);
