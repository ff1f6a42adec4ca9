"""Programs of others that judge what we made. A test that lacks one says so and is skipped."""

import shutil

import pytest

PACKAGES = {"curl": "curl", "ffmpeg": "ffmpeg", "ffprobe": "ffmpeg", "exiftool": "libimage-exiftool-perl"}
"""By name, the Debian package."""


def program(name: str) -> str:
    """Where the program lies."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is missing: install the Debian package {PACKAGES[name]}")
    return found
