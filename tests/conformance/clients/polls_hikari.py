"""hikari asks, hears votes, lists who voted, and ends the poll."""

from __future__ import annotations

import base64

import hikari
from hikari.impl.special_endpoints import PollBuilder
from reports import BOT_TOKEN, CHANNEL_ID, GATEWAY_URL, MOUNT_URL, report

application_id, _, secret = BOT_TOKEN.partition(".")
token = f"{base64.b64encode(application_id.encode()).decode().rstrip('=')}.{secret}"
bot = hikari.GatewayBot(token, rest_url=MOUNT_URL, banner=None, logs=None)

done = 0


async def leave_after_both() -> None:
    """The answer to the end and the result come in any order."""
    global done
    done += 1
    if done == 2:
        await bot.close()


@bot.listen()
async def on_ready(event: hikari.ShardReadyEvent) -> None:
    poll = PollBuilder(question_text="Which?", duration=2, allow_multiselect=True)
    poll.add_answer(text="red", emoji=hikari.UnicodeEmoji("\N{HEAVY BLACK HEART}"))
    poll.add_answer(text="blue")
    sent = await bot.rest.create_message(CHANNEL_ID, poll=poll)
    assert sent.poll is not None
    answers = [answer.poll_media.text for answer in sent.poll.answers]
    report("ready", id=str(sent.id), answers=answers, gateway=GATEWAY_URL)


@bot.listen()
async def on_vote(event: hikari.PollVoteCreateEvent) -> None:
    found = await bot.rest.fetch_message(event.channel_id, event.message_id)
    assert found.poll is not None
    assert found.poll.results is not None
    voters = await bot.rest.fetch_poll_voters(event.channel_id, event.message_id, event.answer_id)
    report(
        "voted",
        by=str(event.user_id),
        counts=[each.count for each in found.poll.results.answer_counts],
        voters=[str(user.id) for user in voters],
    )


@bot.listen()
async def on_vote_gone(event: hikari.PollVoteDeleteEvent) -> None:
    ended = await bot.rest.end_poll(event.channel_id, event.message_id)
    assert ended.poll is not None
    assert ended.poll.results is not None
    report("ended", by=str(event.user_id), final=ended.poll.results.is_finalized)
    await leave_after_both()


@bot.listen()
async def on_message(event: hikari.GuildMessageCreateEvent) -> None:
    if int(event.message.type) == 46:
        report("result", fields={field.name: field.value for field in event.message.embeds[0].fields})
        await leave_after_both()


bot.run()
