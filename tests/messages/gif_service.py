"""A service for moving pictures, as KLIPY and GIPHY answer, on this machine."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs

import trio
from PIL import Image

from tests.loopback_http import Answer, Asked, LoopbackHttp

KEY: Final = "the-key-of-the-instance"
FOUND: Final = 30
"""Pictures that each search finds."""


def moving_picture(shade: int) -> bytes:
    """A GIF of two frames."""
    frames = [Image.new("RGB", (64, 48), (shade, level, 90)) for level in (40, 200)]
    whole = io.BytesIO()
    frames[0].save(whole, "GIF", save_all=True, append_images=frames[1:], duration=400, loop=0)
    return whole.getvalue()


class GifService(LoopbackHttp):
    """Finds FOUND pictures for all words but `nothing`. `said` is answered instead; `delay` seconds before."""

    def __init__(self) -> None:
        super().__init__()
        self.said: Answer | None = None
        self.delay = 0.0

    @property
    def queries(self) -> list[Mapping[str, list[str]]]:
        """What was asked of the service, without the pictures."""
        return [parse_qs(asked.query) for asked in self.requests if not asked.path.endswith(".gif")]

    async def answer(self, asked: Asked) -> Answer:
        if asked.path.endswith(".gif"):
            number = int("".join(filter(str.isdigit, asked.path)))
            return Answer(200, moving_picture(number * 8 % 256), (("Content-Type", "image/gif"),))
        await trio.sleep(self.delay)
        if self.said is not None:
            return self.said
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        if KEY not in (query.get("key"), query.get("api_key")):
            return Answer(401, {"error": "no such key"})
        return Answer(200, self._of_giphy(query) if "api_key" in query else self._of_klipy(query))

    def _numbers(self, query: Mapping[str, str], start: int) -> range:
        found = 0 if query.get("q") == "nothing" else FOUND
        return range(start, min(start + int(query["limit"]), found))

    def _of_klipy(self, query: Mapping[str, str]) -> dict[str, Any]:
        numbers = self._numbers(query, int(query.get("pos", "0")))
        results = [
            {
                "id": str(number),
                "title": "",
                "content_description": f"{query.get('q', 'popular')} {number}",
                "media_formats": {
                    "gif": {"url": f"{self.origin}/{number}.gif", "dims": [64, 48], "size": 1},
                    "tinygif": {"url": f"{self.origin}/{number}-tiny.gif", "dims": [32, 24], "size": 1},
                },
            }
            for number in numbers
        ]
        return {"results": results, "next": str(numbers.stop) if numbers.stop < FOUND and results else ""}

    def _of_giphy(self, query: Mapping[str, str]) -> dict[str, Any]:
        offset = int(query.get("offset", "0"))
        numbers = self._numbers(query, offset)
        data = [
            {
                "id": f"g{number}",
                "title": f"{query.get('q', 'popular')} {number}",
                "images": {
                    "original": {"url": f"{self.origin}/{number}.gif", "width": "64", "height": "48"},
                    "fixed_width": {"url": f"{self.origin}/{number}-tiny.gif", "width": "32", "height": "24"},
                },
            }
            for number in numbers
        ]
        paging = {"offset": offset, "count": len(data), "total_count": FOUND if data else 0}
        return {"data": data, "pagination": paging, "meta": {"status": 200}}
