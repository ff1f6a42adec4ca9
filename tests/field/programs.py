"""Programs of others that judge what we made. A test that lacks one says so and is skipped."""

import os
import shutil

import pytest

PACKAGES = {"curl": "curl", "ffmpeg": "ffmpeg", "ffprobe": "ffmpeg", "exiftool": "libimage-exiftool-perl"}
"""By name, the Debian package."""


def program(name: str) -> str:
    """Where the program lies."""
    found = shutil.which(name)
    if found is None:
        reason = f"{name} is missing: install the Debian package {PACKAGES[name]}"
        if "TESTS_REQUIRE_PROGRAMS" in os.environ:
            pytest.fail(reason)
        pytest.skip(f"MISSED OUT: {reason}")
    return found
