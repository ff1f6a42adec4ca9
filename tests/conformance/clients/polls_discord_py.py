"""discord.py asks, hears votes, lists who voted, and ends the poll."""

from __future__ import annotations

import datetime

import discord
import discord.gateway
import discord.http
import yarl
from discord.poll import PollAnswer
from reports import BOT_TOKEN, CHANNEL_ID, GATEWAY_URL, MOUNT_URL, report

discord.http.Route.BASE = MOUNT_URL
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(GATEWAY_URL)


class Client(discord.Client):
    done = 0

    async def leave_after_both(self) -> None:
        """The answer to the end and the result come in any order."""
        self.done += 1
        if self.done == 2:
            await self.close()

    async def on_ready(self) -> None:
        poll = discord.Poll(question="Which?", duration=datetime.timedelta(hours=2), multiple=True)
        poll.add_answer(text="red", emoji="\N{HEAVY BLACK HEART}").add_answer(text="blue")
        channel = self.get_channel(CHANNEL_ID)
        assert isinstance(channel, discord.TextChannel)
        sent = await channel.send(poll=poll)
        assert sent.poll is not None
        report("ready", id=str(sent.id), answers=[answer.text for answer in sent.poll.answers])

    async def on_poll_vote_add(self, user: discord.Member, answer: PollAnswer) -> None:
        assert answer.poll.message is not None
        found = await answer.poll.message.fetch()
        assert found.poll is not None
        asked = found.poll.get_answer(answer.id)
        assert asked is not None
        report(
            "voted",
            by=str(user.id),
            text=answer.text,
            heard=answer.vote_count,
            counts=[each.vote_count for each in found.poll.answers],
            voters=[str(each.id) async for each in asked.voters()],
        )

    async def on_poll_vote_remove(self, user: discord.Member, answer: PollAnswer) -> None:
        poll = answer.poll
        ended = await poll.end()
        try:
            await poll.end()
        except discord.HTTPException as error:
            report("ended", by=str(user.id), final=ended.is_finalised(), total=ended.total_votes, code=error.code)
            await self.leave_after_both()

    async def on_message(self, message: discord.Message) -> None:
        if message.type is not discord.MessageType.poll_result:
            return
        assert message.reference is not None
        asked = message.reference.resolved
        assert isinstance(asked, discord.Message)
        assert asked.poll is not None
        victor = asked.poll.victor_answer
        report(
            "result",
            question=asked.poll.question,
            total=asked.poll.total_votes,
            victor=victor and victor.text,
            said=message.system_content,
        )
        await self.leave_after_both()


intents = discord.Intents(guilds=True, members=True, messages=True, polls=True, message_content=True)
Client(intents=intents).run(BOT_TOKEN, log_handler=None)
