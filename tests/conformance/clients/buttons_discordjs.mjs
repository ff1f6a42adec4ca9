// The one bot (`bot_steps.py`) on discord.js.

import {
  ActionRowBuilder,
  ButtonBuilder,
  ButtonStyle,
  ChannelSelectMenuBuilder,
  Client,
  ContainerBuilder,
  Events,
  GatewayIntentBits,
  MentionableSelectMenuBuilder,
  MessageFlags,
  ModalBuilder,
  Partials,
  RoleSelectMenuBuilder,
  StringSelectMenuBuilder,
  TextInputBuilder,
  TextInputStyle,
  UserSelectMenuBuilder,
} from "discord.js";
import { PICTURE, commands } from "./buttons_commands.mjs";
import { alice, origin, report, world } from "./reports.mjs";

const { Guilds, GuildMessages, GuildMessagePolls, MessageContent } = GatewayIntentBits;
const client = new Client({
  intents: [Guilds, GuildMessages, GuildMessagePolls, MessageContent],
  partials: [Partials.Message, Partials.Poll, Partials.PollAnswer],
  rest: { api: `${origin}/api` },
});

const button = (id, label) => new ButtonBuilder().setCustomId(id).setLabel(label).setStyle(ButtonStyle.Primary);
const row = (...parts) => new ActionRowBuilder().addComponents(...parts);
const chose = (values) => `chose ${values.join(" ")}`;

const answers = {
  async everything(interaction) {
    const { options } = interaction;
    await interaction.reply("everything");
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
      file: [file.name, file.size],
    });
  },
  async tree(interaction) {
    const below = [interaction.options.getSubcommandGroup(true), interaction.options.getSubcommand(true)];
    if (below.join(" ") === "branch leaf") await interaction.reply(`leaf ${interaction.options.getString("name", true)}`);
  },
  find: (interaction) => interaction.reply(`found ${interaction.options.getString("word", true)}`),
  "Look at": (interaction) => interaction.reply(`looked at ${interaction.targetUser.id}`),
  "Keep it": (interaction) => interaction.reply(`kept ${interaction.targetMessage.content}`),
  secret: (interaction) => interaction.reply({ content: "only you", flags: MessageFlags.Ephemeral }),
  async slow(interaction) {
    await interaction.deferReply();
    await interaction.editReply("there");
    report("filled");
  },
  async more(interaction) {
    await interaction.reply("first");
    report("more", { id: (await interaction.followUp("second")).id });
  },
  async change(interaction) {
    await interaction.reply("before");
    await interaction.editReply("after");
    const then = await interaction.followUp("then");
    report("changed", { id: (await interaction.editReply({ message: then, content: "then!" })).id });
  },
  async gone(interaction) {
    await interaction.reply("here");
    await interaction.deleteReply();
    report("gone");
  },
  board(interaction) {
    const words = ["red", "green"].map((name) => ({ label: name, value: name }));
    const menu = new StringSelectMenuBuilder().setCustomId("colour").addOptions(words);
    return interaction.reply({ content: "board", components: [row(button("go", "Go"), button("why", "Why")), row(menu)] });
  },
  menus(interaction) {
    const made = [
      new UserSelectMenuBuilder().setCustomId("people").setMaxValues(2),
      new RoleSelectMenuBuilder().setCustomId("roles"),
      new MentionableSelectMenuBuilder().setCustomId("both").setMaxValues(2),
      new ChannelSelectMenuBuilder().setCustomId("channels"),
    ];
    return interaction.reply({ content: "menus", components: made.map((menu) => row(menu)) });
  },
  layout(interaction) {
    const made = new ContainerBuilder()
      .setAccentColor(255)
      .addTextDisplayComponents((text) => text.setContent("text"))
      .addSectionComponents((section) =>
        section
          .addTextDisplayComponents((text) => text.setContent("beside"))
          .setThumbnailAccessory((picture) => picture.setURL(PICTURE)),
      )
      .addMediaGalleryComponents((gallery) => gallery.addItems((item) => item.setURL(PICTURE)))
      .addSeparatorComponents((separator) => separator)
      .addActionRowComponents(row(button("inside", "Inside")));
    return interaction.reply({ components: [made], flags: MessageFlags.IsComponentsV2 });
  },
  async ask(interaction) {
    const poll = {
      question: { text: "Which?" },
      answers: [{ text: "red" }, { text: "blue" }],
      duration: 2,
      allowMultiselect: false,
    };
    await interaction.reply({ poll });
    report("asked", { id: (await interaction.fetchReply()).id });
  },
};

async function used(interaction) {
  switch (interaction.customId) {
    case "go":
      return interaction.update("pressed");
    case "why": {
      const reason = new TextInputBuilder().setCustomId("reason").setLabel("Reason").setStyle(TextInputStyle.Short);
      return interaction.showModal(new ModalBuilder().setCustomId("form").setTitle("Why?").addComponents(row(reason)));
    }
    case "inside":
      return interaction.reply("inside");
    case "colour":
      return interaction.reply(chose(interaction.values));
    default: {
      const known = new Map([
        ...(interaction.users ?? []),
        ...(interaction.roles ?? []),
        ...(interaction.channels ?? []),
      ]);
      return interaction.reply(chose(interaction.values.map((value) => known.get(value).id)));
    }
  }
}

client.on(Events.InteractionCreate, async (interaction) => {
  if (interaction.isAutocomplete()) {
    const typed = interaction.options.getFocused();
    await interaction.respond([{ name: `${typed}!`, value: `${typed}!` }]);
  } else if (interaction.isCommand()) await answers[interaction.commandName](interaction);
  else if (interaction.isModalSubmit()) {
    await interaction.reply(`because ${interaction.fields.getTextInputValue("reason")}`);
  } else await used(interaction);
});
client.once(Events.ClientReady, async () => {
  await client.application.commands.set(commands);
  report("ready");
});
client.on(Events.MessageCreate, (message) => {
  if (message.author.id !== alice.id) return;
  report("heard", { content: message.content });
  if (message.content === "bye") client.destroy();
});
client.on(Events.MessagePollVoteAdd, async (answer, userId) => {
  report("voted", { by: userId, answer: answer.id });
  await answer.poll.end();
  report("ended");
});

await client.login(world.bot.token);
