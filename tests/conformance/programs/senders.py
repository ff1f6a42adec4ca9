"""Two libraries of webhooks as their documentation has them; the address is the first argument."""

from __future__ import annotations

import sys

from dhooks_lite import Embed, Webhook
from discord_webhook import DiscordEmbed, DiscordWebhook

url = sys.argv[1]

webhook = DiscordWebhook(url=url, content="from discord-webhook", rate_limit_retry=True)
webhook.add_file(file=b"attached", filename="note.txt")
embed = DiscordEmbed(title="A title", description="A text", color="03b2f8")
embed.set_timestamp()
webhook.add_embed(embed)
assert webhook.execute().status_code == 200
webhook.content = "edited by discord-webhook"
assert webhook.edit().status_code == 200

gone = DiscordWebhook(url=url, content="deleted by discord-webhook")
gone.execute()
assert gone.delete().status_code == 204

answer = Webhook(url).execute("from dhooks-lite", embeds=[Embed(title="An embed")], wait_for_response=True)
assert answer.status_ok
assert answer.content["content"] == "from dhooks-lite"
