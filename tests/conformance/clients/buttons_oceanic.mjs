// The one bot (`bot_steps.py`) on Oceanic.

import { Client, InteractionTypes, MessageFlags } from "oceanic.js";
import { PICTURE, commands } from "./buttons_commands.mjs";
import { alice, origin, report, world } from "./reports.mjs";

const client = new Client({
  auth: `Bot ${world.bot.token}`,
  rest: { baseURL: `${origin}/api/v10` },
  gateway: { intents: ["GUILDS", "GUILD_MESSAGES", "GUILD_MESSAGE_POLLS", "MESSAGE_CONTENT"] },
});

const button = (customID, label) => ({ type: 2, style: 1, customID, label });
const row = (...components) => ({ type: 1, components });
const chose = (values) => `chose ${values.join(" ")}`;

const answers = {
  async everything(interaction) {
    const { options } = interaction.data;
    await interaction.createMessage({ content: "everything" });
    const file = options.getAttachment("file", true);
    report("everything", {
      text: options.getString("text", true),
      number: options.getInteger("number", true),
      part: options.getNumber("part", true),
      yes: options.getBoolean("yes", true),
      who: options.getUser("who", true).id,
      where: options.getChannel("where", true).id,
      role: options.getRole("role", true).id,
      whom: options.getMentionable("whom", true).id,
      file: [file.filename, file.size],
    });
  },
  async tree(interaction) {
    const { options } = interaction.data;
    if (options.getSubCommand(true).join(" ") !== "branch leaf") return;
    await interaction.createMessage({ content: `leaf ${options.getString("name", true)}` });
  },
  find: (interaction) => interaction.createMessage({ content: `found ${interaction.data.options.getString("word", true)}` }),
  "Look at": (interaction) => interaction.createMessage({ content: `looked at ${interaction.data.target.id}` }),
  "Keep it": (interaction) => interaction.createMessage({ content: `kept ${interaction.data.target.content}` }),
  secret: (interaction) => interaction.createMessage({ content: "only you", flags: MessageFlags.EPHEMERAL }),
  async slow(interaction) {
    await interaction.defer();
    await interaction.editOriginal({ content: "there" });
    report("filled");
  },
  async more(interaction) {
    await interaction.createMessage({ content: "first" });
    const second = await interaction.createFollowup({ content: "second" });
    report("more", { id: (await second.getMessage()).id });
  },
  async change(interaction) {
    await interaction.createMessage({ content: "before" });
    await interaction.editOriginal({ content: "after" });
    const then = await (await interaction.createFollowup({ content: "then" })).getMessage();
    report("changed", { id: (await interaction.editFollowup(then.id, { content: "then!" })).id });
  },
  async gone(interaction) {
    await interaction.createMessage({ content: "here" });
    await interaction.deleteOriginal();
    report("gone");
  },
  board(interaction) {
    const options = ["red", "green"].map((name) => ({ label: name, value: name }));
    const menu = { type: 3, customID: "colour", options };
    return interaction.createMessage({ content: "board", components: [row(button("go", "Go"), button("why", "Why")), row(menu)] });
  },
  menus(interaction) {
    const made = [
      { type: 5, customID: "people", maxValues: 2 },
      { type: 6, customID: "roles" },
      { type: 7, customID: "both", maxValues: 2 },
      { type: 8, customID: "channels", channelTypes: [] },
    ];
    return interaction.createMessage({ content: "menus", components: made.map((menu) => row(menu)) });
  },
  layout(interaction) {
    const media = { url: PICTURE };
    const text = (content) => ({ type: 10, content });
    const components = [
      text("text"),
      { type: 9, components: [text("beside")], accessory: { type: 11, media } },
      { type: 12, items: [{ media }] },
      { type: 14 },
      row(button("inside", "Inside")),
    ];
    return interaction.createMessage({
      components: [{ type: 17, accentColor: 255, components }],
      flags: MessageFlags.IS_COMPONENTS_V2,
    });
  },
  async ask(interaction) {
    const words = ["red", "blue"].map((text) => ({ pollMedia: { text } }));
    const poll = { question: { text: "Which?" }, answers: words, duration: 2, allowMultiselect: false, layoutType: 1 };
    await interaction.createMessage({ poll });
    report("asked", { id: (await interaction.getOriginal()).id });
  },
};

async function used(interaction) {
  const { data } = interaction;
  switch (data.customID) {
    case "go":
      return interaction.editParent({ content: "pressed" });
    case "why": {
      const reason = { type: 4, customID: "reason", label: "Reason", style: 1 };
      return interaction.createModal({ title: "Why?", customID: "form", components: [row(reason)] });
    }
    case "inside":
      return interaction.createMessage({ content: "inside" });
    case "colour":
      return interaction.createMessage({ content: chose(data.values.getStrings()) });
    default: {
      const { users, roles, channels } = data.resolved;
      const known = new Map([...users, ...roles, ...channels]);
      return interaction.createMessage({ content: chose(data.values.raw.map((value) => known.get(value).id)) });
    }
  }
}

client.on("interactionCreate", async (interaction) => {
  switch (interaction.type) {
    case InteractionTypes.APPLICATION_COMMAND_AUTOCOMPLETE: {
      const typed = interaction.data.options.getFocused(true).value;
      return interaction.result([{ name: `${typed}!`, value: `${typed}!` }]);
    }
    case InteractionTypes.APPLICATION_COMMAND:
      return answers[interaction.data.name](interaction);
    case InteractionTypes.MODAL_SUBMIT:
      return interaction.createMessage({ content: `because ${interaction.data.components.getTextInput("reason", true)}` });
    default:
      return used(interaction);
  }
});
client.once("ready", async () => {
  await client.application.bulkEditGlobalCommands(commands);
  report("ready");
});
client.on("messageCreate", (message) => {
  if (message.author.id !== alice.id) return;
  report("heard", { content: message.content });
  if (message.content === "bye") client.disconnect(false);
});
client.on("messagePollVoteAdd", async (message, user, answer) => {
  report("voted", { by: user.id, answer: answer.answerID ?? answer.id ?? answer });
  await client.rest.channels.expirePoll(message.channelID, message.id);
  report("ended");
});
client.on("error", (error) => console.error(error));

await client.connect();
