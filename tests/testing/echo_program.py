"""A bot that is a program: it says what it is asked to say, and ends with its first connection."""

from __future__ import annotations

BOT = """
import json, os, urllib.request
import trio
from trio_websocket import open_websocket_url

def say(text, channel_id):
    url = f"{os.environ['CHAT_BASE_URL']}/channels/{channel_id}/messages"
    headers = {"Authorization": "Bot " + os.environ["CHAT_BOT_TOKEN"], "Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(url, json.dumps({"content": text}).encode(), headers))

async def main():
    async with open_websocket_url(os.environ["CHAT_GATEWAY_URL"] + "?v=1&encoding=json") as gateway:
        identify = {"token": os.environ["CHAT_BOT_TOKEN"], "properties": {"os": "l", "browser": "b", "device": "d"}}
        await gateway.send_message(json.dumps({"op": 2, "d": identify}))
        while True:
            payload = json.loads(await gateway.get_message())
            if payload.get("t") == "MESSAGE_CREATE" and payload["d"]["content"].startswith("!echo "):
                say(payload["d"]["content"].removeprefix("!echo "), payload["d"]["channel_id"])

trio.run(main)
"""
