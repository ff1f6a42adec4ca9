"""Runs beside a test: PyPI `livekit`, LiveKit's own native client. It publishes a tone and prints what it hears as
lines of JSON; it ends with its standard input.

    python native_client.py ADDRESS TOKEN HERTZ

Lines: {"event": "connected"}; {"event": "heard", "identity": I, "hertz": F, "loudness": L} twice a second for each
track that is heard; {"event": "disconnected", "reason": N}.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import numpy
from livekit import rtc

RATE = 48_000
LOUD = 12_000


def say(event: str, **members: Any) -> None:
    print(json.dumps({"event": event, **members}), flush=True)


async def hear(track: rtc.Track, identity: str) -> None:
    """Tell the strongest frequency of each half second."""
    heard: list[numpy.ndarray] = []
    async for event in rtc.AudioStream(track, sample_rate=RATE, num_channels=1):
        heard.append(numpy.frombuffer(event.frame.data, dtype=numpy.int16))
        if sum(map(len, heard)) < RATE // 2:
            continue
        samples = numpy.concatenate(heard).astype(float)
        heard.clear()
        spectrum = numpy.abs(numpy.fft.rfft(samples * numpy.hanning(len(samples))))
        hertz = float(numpy.argmax(spectrum)) * RATE / len(samples)
        say("heard", identity=identity, hertz=round(hertz), loudness=round(float(numpy.sqrt((samples**2).mean()))))


async def sound(source: rtc.AudioSource, hertz: float) -> None:
    """A tone for ever, ten milliseconds at a time."""
    at = 0
    while True:
        samples = numpy.sin(2 * numpy.pi * hertz * (numpy.arange(RATE // 100) + at) / RATE) * LOUD
        at += RATE // 100
        frame = rtc.AudioFrame(samples.astype(numpy.int16).tobytes(), RATE, 1, RATE // 100)
        await source.capture_frame(frame)


async def main(address: str, token: str, hertz: float) -> None:
    room, tasks = rtc.Room(), list[asyncio.Task[None]]()

    @room.on("track_subscribed")
    def subscribed(track: rtc.Track, publication: Any, participant: rtc.RemoteParticipant) -> None:
        tasks.append(asyncio.ensure_future(hear(track, participant.identity)))

    @room.on("disconnected")
    def disconnected(reason: int) -> None:
        say("disconnected", reason=reason)

    await room.connect(address, token, options=rtc.RoomOptions(auto_subscribe=True))
    say("connected")
    if hertz:
        source = rtc.AudioSource(RATE, 1)
        options = rtc.TrackPublishOptions()
        options.source = rtc.TrackSource.SOURCE_MICROPHONE
        track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
        await room.local_participant.publish_track(track, options)
        tasks.append(asyncio.ensure_future(sound(source, hertz)))
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for task in tasks:
        task.cancel()
    await room.disconnect()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
