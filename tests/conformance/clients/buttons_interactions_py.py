"""The one bot (`bot_steps.py`) on interactions, whose decorators read annotations as they are."""

import os
from typing import Any

import interactions
from interactions.api.events import MessageCreate, MessagePollVoteAdd, Startup
from interactions.api.http.route import Route
from reports import ALICE_ID, BOT_TOKEN, MOUNT_URL, report

Route.BASE = MOUNT_URL

intents = interactions.Intents.DEFAULT | interactions.Intents.MESSAGE_CONTENT | interactions.Intents.GUILD_MEMBERS
bot = interactions.Client(intents=intents, send_command_tracebacks=False)
Kind = interactions.OptionType
PICTURE = "https://example.com/a.png"


@interactions.listen(Startup)
async def on_startup() -> None:
    report("ready")


@interactions.listen(MessageCreate)
async def on_message(event: MessageCreate) -> None:
    if event.message.author.id == ALICE_ID:
        report("heard", content=event.message.content)
        if event.message.content == "bye":
            os._exit(0)  # its own `stop` closes HTTP first, and then waits without end for the gateway


@interactions.listen(MessagePollVoteAdd)
async def on_vote(event: MessagePollVoteAdd) -> None:
    report("voted", by=str(event.user_id), answer=event.answer_id)
    await (await event.fetch_message()).end_poll()
    report("ended")


def option(name: str, kind: Kind, **more: Any) -> Any:
    return interactions.slash_option(name, "d", kind, required=True, **more)


@interactions.slash_command("everything", description="Every kind of option.")
@option("text", Kind.STRING)
@option("number", Kind.INTEGER)
@option("part", Kind.NUMBER)
@option("yes", Kind.BOOLEAN)
@option("who", Kind.USER)
@option("where", Kind.CHANNEL)
@option("role", Kind.ROLE)
@option("whom", Kind.MENTIONABLE)
@option("file", Kind.ATTACHMENT)
async def everything(ctx: interactions.SlashContext, text, number, part, yes, who, where, role, whom, file) -> None:  # type: ignore[no-untyped-def]
    await ctx.send("everything")
    told = {name: str(each.id) for name, each in {"who": who, "where": where, "role": role, "whom": whom}.items()}
    report("everything", text=text, number=number, part=part, yes=yes, **told, file=[file.filename, file.size])


@interactions.slash_command(
    "tree", description="d", group_name="branch", group_description="d", sub_cmd_name="leaf", sub_cmd_description="d"
)
@option("name", Kind.STRING)
async def leaf(ctx: interactions.SlashContext, name: str) -> None:
    await ctx.send(f"leaf {name}")


@interactions.slash_command("find", description="Completes itself.")
@option("word", Kind.STRING, autocomplete=True)
async def find(ctx: interactions.SlashContext, word: str) -> None:
    await ctx.send(f"found {word}")


@find.autocomplete("word")
async def words(ctx: interactions.AutocompleteContext) -> None:
    await ctx.send([f"{ctx.input_text}!"])


@interactions.user_context_menu(name="Look at")
async def look_at(ctx: interactions.ContextMenuContext) -> None:
    await ctx.send(f"looked at {ctx.target.id}")


@interactions.message_context_menu(name="Keep it")
async def keep_it(ctx: interactions.ContextMenuContext) -> None:
    await ctx.send(f"kept {ctx.target.content}")


@interactions.slash_command("secret", description="For one person.")
async def secret(ctx: interactions.SlashContext) -> None:
    await ctx.send("only you", ephemeral=True)


@interactions.slash_command("slow", description="Takes its time.")
async def slow(ctx: interactions.SlashContext) -> None:
    await ctx.defer()
    await ctx.edit(content="there")
    report("filled")


@interactions.slash_command("more", description="A follow-up.")
async def more(ctx: interactions.SlashContext) -> None:
    await ctx.send("first")
    second = await ctx.send("second")
    report("more", id=str(second.id))


@interactions.slash_command("change", description="Changes.")
async def change(ctx: interactions.SlashContext) -> None:
    await ctx.send("before")
    await ctx.edit(content="after")
    then = await ctx.send("then")
    await ctx.edit(then, content="then!")
    report("changed", id=str(then.id))


@interactions.slash_command("gone", description="Deletes.")
async def gone(ctx: interactions.SlashContext) -> None:
    await ctx.send("here")
    await ctx.delete()
    report("gone")


@interactions.slash_command("board", description="Buttons and a menu.")
async def board(ctx: interactions.SlashContext) -> None:
    style = interactions.ButtonStyle.PRIMARY
    buttons = [interactions.Button(style=style, label=name, custom_id=name.lower()) for name in ("Go", "Why")]
    menu = interactions.StringSelectMenu("red", "green", custom_id="colour")
    await ctx.send("board", components=[interactions.ActionRow(*buttons), interactions.ActionRow(menu)])


@interactions.slash_command("menus", description="Menus.")
async def menus(ctx: interactions.SlashContext) -> None:
    made = [
        interactions.UserSelectMenu(custom_id="people", max_values=2),
        interactions.RoleSelectMenu(custom_id="roles"),
        interactions.MentionableSelectMenu(custom_id="both", max_values=2),
        interactions.ChannelSelectMenu(custom_id="channels"),
    ]
    await ctx.send("menus", components=[interactions.ActionRow(menu) for menu in made])


@interactions.component_callback("go")
async def go(ctx: interactions.ComponentContext) -> None:
    await ctx.edit_origin(content="pressed")


@interactions.component_callback("why")
async def why(ctx: interactions.ComponentContext) -> None:
    await ctx.send_modal(
        interactions.Modal(interactions.ShortText(label="Reason", custom_id="reason"), title="Why?", custom_id="form")
    )


@interactions.modal_callback("form")
async def form(ctx: interactions.ModalContext, reason: str) -> None:
    await ctx.send(f"because {reason}")


@interactions.component_callback("colour", "people", "roles", "both", "channels")
async def chose(ctx: interactions.ComponentContext) -> None:
    await ctx.send(f"chose {' '.join(str(getattr(one, 'id', one)) for one in ctx.values)}")


@interactions.component_callback("inside")
async def inside(ctx: interactions.ComponentContext) -> None:
    await ctx.send("inside")


@interactions.slash_command("layout", description="The second form.")
async def layout(ctx: interactions.SlashContext) -> None:
    media = interactions.UnfurledMediaItem(url=PICTURE)
    made = interactions.ContainerComponent(
        interactions.TextDisplayComponent("text"),
        interactions.SectionComponent(
            components=[interactions.TextDisplayComponent("beside")],
            accessory=interactions.ThumbnailComponent(media),
        ),
        interactions.MediaGalleryComponent(items=[interactions.MediaGalleryItem(media)]),
        interactions.SeparatorComponent(divider=True),
        interactions.ActionRow(
            interactions.Button(style=interactions.ButtonStyle.PRIMARY, label="Inside", custom_id="inside")
        ),
        accent_color=255,
    )
    await ctx.send(components=[made])


@interactions.slash_command("ask", description="A poll.")
async def ask(ctx: interactions.SlashContext) -> None:
    poll = interactions.Poll.create("Which?", duration=2, answers=["red", "blue"])
    asked = await ctx.send(poll=poll)
    report("asked", id=str(asked.id))


bot.start(BOT_TOKEN)
