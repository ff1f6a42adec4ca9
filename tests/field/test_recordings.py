"""Sounds as browsers and telephones record them, in containers of films: what has nothing to be seen is a sound.

ffmpeg writes the files as Chromium's and Firefox's MediaRecorder (WebM and Ogg with Opus), Safari's (MP4 with AAC, in
pieces), and telephones do; a table of what each is says what a browser's player must be told.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from chat.media.content_types import content_type
from chat.media.moving_header import SOUNDS, is_recorded_sound, moving_header
from chat.testing.world import World
from tests.media.moving_samples import element, track, webm
from tests.webhooks.surfaces import form, post_form

SOUND: Final = ["-f", "lavfi", "-i", "sine=duration=2"]
FILM: Final = ["-f", "lavfi", "-i", "testsrc=duration=2:size=160x120:rate=10"]
IN_PIECES: Final = ["-movflags", "frag_keyframe+empty_moov+default_base_moof"]

RECORDINGS: Final = [
    ("a.webm", [*SOUND, "-c:a", "libopus", "-live", "1"], "audio/webm"),
    ("b.webm", [*SOUND, "-c:a", "libopus"], "audio/webm"),
    ("c.webm", [*SOUND, *FILM, "-c:a", "libopus", "-c:v", "libvpx"], "video/webm"),
    ("d.webm", [*FILM, "-c:v", "libvpx"], "video/webm"),
    ("e.mp4", [*SOUND, "-c:a", "aac"], "audio/mp4"),
    ("f.mp4", [*SOUND, "-c:a", "aac", *IN_PIECES], "audio/mp4"),
    ("g.m4a", [*SOUND, "-c:a", "aac"], "audio/mp4"),
    ("h.mov", [*SOUND, "-c:a", "aac"], "audio/mp4"),
    ("i.3gp", [*SOUND, "-c:a", "aac"], "audio/mp4"),
    ("j.mp4", [*SOUND, *FILM, "-c:a", "aac", "-c:v", "mpeg4"], "video/mp4"),
    ("k.mov", [*SOUND, *FILM, "-c:a", "aac", "-c:v", "mpeg4"], "video/quicktime"),
    ("l.ogg", [*SOUND, "-c:a", "libopus"], "audio/ogg"),
    ("m.flac", SOUND, "audio/flac"),
    ("n.wav", SOUND, "audio/wav"),
    ("o.mp3", SOUND, "audio/mpeg"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recordings")


def recorded(folder: Path, name: str, how: list[str]) -> Path:
    """A file that ffmpeg writes."""
    program = shutil.which("ffmpeg")
    if program is None:
        pytest.skip("no ffmpeg on this machine")
    subprocess.run([program, "-y", "-loglevel", "error", *how, str(folder / name)], check=True, timeout=60)
    return folder / name


@pytest.mark.parametrize(("name", "how", "kind"), RECORDINGS, ids=[name for name, *_ in RECORDINGS])
async def test_a_recording_is_what_there_is_in_it(
    chat_world: World, folder: Path, name: str, how: list[str], kind: str
) -> None:
    data = recorded(folder, name, how).read_bytes()
    body = form([("files[0]", name, data)])
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    (file,) = (await post_form(chat_world.alice.rest, path, body)).expect(200)["attachments"]
    assert file["content_type"] == kind
    assert (file.get("width") is not None) == kind.startswith("video/")


def test_a_sound_of_which_nothing_tells_is_a_film_still(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(webm())
    assert not moving_header(tmp_path / "file", "video/webm").is_sound


@pytest.mark.parametrize(
    ("tracks", "is_sound"),
    [([2], True), ([2, 2, 17], True), ([1, 2], False), ([2, 1], False), ([17], False), ([2, 33], False), ([], False)],
)
def test_the_kinds_of_its_tracks_tell_a_webm(tmp_path: Path, tracks: list[int], is_sound: bool) -> None:
    data = webm(tracks=[track(kind) for kind in tracks])
    (tmp_path / "file").write_bytes(data)
    assert content_type(data) == "video/webm"
    assert moving_header(tmp_path / "file", "video/webm").is_sound is is_sound
    assert is_recorded_sound(data) is is_sound


def test_tracks_that_are_out_of_sight_may_be_to_be_seen() -> None:
    data = webm(tracks=[track(2), element(0xAE, element(0xEC, bytes(300_000))), track(1)])
    assert not is_recorded_sound(data[:200_000])
    assert not is_recorded_sound(data)


def test_every_type_of_a_sound_is_one_of_a_film_too() -> None:
    assert all(film.startswith("video/") and sound.startswith("audio/") for film, sound in SOUNDS.items())
