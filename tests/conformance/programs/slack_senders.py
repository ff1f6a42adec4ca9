"""Three libraries of Slack's incoming webhooks as their documentation has them; the address is the first argument."""

from __future__ import annotations

import sys

import slackweb
from slack_sdk.models.attachments import Attachment, AttachmentField
from slack_sdk.models.blocks import ContextBlock, DividerBlock, HeaderBlock, MarkdownTextObject, SectionBlock
from slack_sdk.webhook import WebhookClient
from slack_webhook import Slack

url = sys.argv[1]

client = WebhookClient(url)
answer = client.send(text="from *slack_sdk*")
assert (answer.status_code, answer.body) == (200, "ok"), answer.body
blocks = [
    HeaderBlock(text="Deploy"),
    SectionBlock(text=MarkdownTextObject(text="*web* is <https://status.example.com|up>")),
    SectionBlock(fields=[MarkdownTextObject(text="*Branch*\nmain"), MarkdownTextObject(text="*Took*\n3 min")]),
    DividerBlock(),
    ContextBlock(elements=[MarkdownTextObject(text="by octo")]),
]
answer = client.send(text="Deploy: web is up", blocks=blocks)
assert (answer.status_code, answer.body) == (200, "ok"), answer.body
fields = [AttachmentField(title="Priority", value="High", short=True)]
attachment = Attachment(text="It *burns*", fallback="It burns", color="danger", title="Fire", fields=fields)
answer = client.send(attachments=[attachment])
assert (answer.status_code, answer.body) == (200, "ok"), answer.body

# The form `payload=`, by urllib.
assert slackweb.Slack(url=url).notify(text="from slackweb", username="Web", icon_emoji=":sushi:") == "ok"
assert (
    slackweb.Slack(url=url).notify(attachments=[{"title": "Sushi", "text": "_hungry_", "mrkdwn_in": ["text"]}]) == "ok"
)

fields = [{"title": "Load", "value": 98.5, "short": True}]
assert Slack(url=url).post(text="from slack_webhook", attachments=[{"color": "#36a64f", "fields": fields}]) == "ok"
