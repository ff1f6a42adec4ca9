// @discordjs/core with @discordjs/rest and @discordjs/ws, which take another server's address and version as options. The
// address is the one that programs of this family expect: /api in place of the origin.

import { Client, GatewayDispatchEvents } from "@discordjs/core";
import { REST } from "@discordjs/rest";
import { WebSocketManager, WebSocketShardEvents } from "@discordjs/ws";
import { alice, origin, report, world } from "./reports.mjs";

const rest = new REST({ api: `${origin}/api`, version: "1" }).setToken(world.bot.token);
const gateway = new WebSocketManager({
  token: world.bot.token,
  intents: 0,
  version: "1",
  fetchGatewayInformation: () => rest.get("/gateway/bot"),
  rest,
});
const client = new Client({ rest, gateway });
const own = [];
const guilds = [];

client.on(GatewayDispatchEvents.Ready, ({ data }) => {
  guilds.push(...data.guilds.map((guild) => guild.id));
  report("ready", { user_id: data.user.id, guilds });
});
client.on(GatewayDispatchEvents.MessageCreate, async ({ data: message, api }) => {
  if (message.author.id !== alice.id) return;
  const channel = message.channel_id;
  switch (message.content) {
    case "reply": {
      const sent = await api.channels.createMessage(channel, {
        content: "hello",
        message_reference: { message_id: message.id },
      });
      own.push(sent.id);
      return report("reply", { id: sent.id });
    }
    case "edit": {
      const edited = await api.channels.editMessage(channel, own.at(-1), { content: "hello again" });
      return report("edit", { content: edited.content });
    }
    case "react":
      await api.channels.addMessageReaction(channel, message.id, "👍");
      return report("react");
    case "delete":
      await api.channels.deleteMessage(channel, own.pop());
      return report("delete");
    case "fetch": {
      const guild = await api.guilds.get(world.guild_id);
      const members = await api.guilds.getMembers(world.guild_id, { limit: 100 });
      const channels = await api.guilds.getChannels(world.guild_id);
      const history = await api.channels.getMessages(channel, { limit: 2 });
      return report("fetch", {
        guild: guild.name,
        members: members.map((member) => member.user.id),
        channels: channels.map((each) => each.id),
        history: history.map((each) => each.content),
      });
    }
    case "bye":
      return gateway.destroy();
    default:
      return report("heard", { content: message.content });
  }
});
client.on(GatewayDispatchEvents.MessageUpdate, ({ data }) => {
  if (data.author.id === alice.id) report("edit_heard", { content: data.content });
});
client.on(GatewayDispatchEvents.MessageDelete, ({ data }) => report("deletion_heard", { id: data.id }));
client.on(GatewayDispatchEvents.MessageReactionAdd, ({ data }) => {
  if (data.user_id === alice.id) report("reaction_heard", { emoji: data.emoji.name });
});
gateway.on(WebSocketShardEvents.Resumed, () => report("resumed"));

await gateway.connect();
