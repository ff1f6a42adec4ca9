"""A script of 2018, with the requests and the urllib3 of then; the address is the first argument."""

from __future__ import annotations

import json
import sys

import requests

assert requests.__version__ == "2.19.1"
url = sys.argv[1]
wait = {"wait": "true"}

answer = requests.post(url, json={"content": "from JSON"}, timeout=60)
assert answer.status_code == 204
answer = requests.post(url, params=wait, data={"content": "from a form", "username": "Old"}, timeout=60)
assert answer.json()["content"] == "from a form", answer.text
# This urllib3 writes a name that is not ASCII as `filename*` alone.
named = {"file": ("\u0444\u0430\u0439\u043b.txt", b"hi")}
answer = requests.post(url, params=wait, data={"content": "with a file"}, files=named, timeout=60)
assert [file["filename"] for file in answer.json()["attachments"]] == ["\u0444\u0430\u0439\u043b.txt"], answer.text
payload = {"payload_json": json.dumps({"content": "with payload_json", "embeds": [{"title": "A title"}]})}
answer = requests.post(url, params=wait, data=payload, files={"files[0]": ("a.txt", b"a")}, timeout=60)
assert answer.json()["embeds"][0]["title"] == "A title", answer.text
