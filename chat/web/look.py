"""How an instance looks by its operator's choice: a colour in place of the accent, a picture in place of the sign
(settings `accent_colour`, `logo_file`).

What cannot be read is refused at the start. White stands on the accent in the light scheme, so the colour itself is
asked for the contrast of text (WCAG 2.2, 1.4.3). The dark scheme takes its hue, as light as the accent is there. The
conversion is that of CSS Color 4, section 9 (sRGB to OKLab).
"""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Final

from chat.classes import frozen
from chat.errors import SettingsError
from chat.web.assets import CONTENT_TYPES, TAG_LENGTH, Asset

READABLE: Final = 4.5
"""The least contrast of text (WCAG 2.2, 1.4.3)."""

STRONGEST: Final = 0.15
"""Chroma in OKLCH; more of it does not fit on screens in the dark scheme."""

DARK: Final = (0.807, 0.86)
"""The lightness of the accent in the dark scheme, and below a pointer; as in tokens.css."""

HOVER: Final = 0.054
"""What the accent loses in lightness below a pointer."""

LOGO_BYTES: Final = 262_144

SIGNATURES: Final = {".png": (0, b"\x89PNG\r\n\x1a\n"), ".webp": (8, b"WEBP")}
"""Where a kind of file says what it is."""

LOGO_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""For a drawing that is opened by itself: it loads and runs nothing."""


@frozen
class Look:
    """What pages and client are given besides their own files; each is None where nothing was chosen."""

    style: Asset | None = None
    logo: Asset | None = None

    @property
    def style_address(self) -> str | None:
        """Where the style sheet is served; changes with it."""
        return None if self.style is None else f"/look/{self.style.tag}/style.css"

    @property
    def logo_address(self) -> str | None:
        """Where the picture is served; changes with it."""
        return None if self.logo is None else f"/look/{self.logo.tag}/logo"

    def find(self, tag: str, name: str) -> Asset | None:
        """The file at an address."""
        asset = {"style.css": self.style, "logo": self.logo}.get(name)
        return asset if asset is not None and asset.tag == tag else None


def read_look(accent: str | None, logo: str | None, directory: Path) -> Look:
    """The look of an instance whose data lie in `directory`.

    :param accent: a colour such as `#0b6e4f`.
    :param logo: a path, relative to the directory.
    :raises SettingsError: for a colour on which white cannot be read, and a file that is no picture.
    """
    return Look(
        None if accent is None else _asset(_style(accent).encode(), ".css"),
        None if logo is None else _logo(directory / logo),
    )


def _asset(content: bytes, ending: str) -> Asset:
    return Asset(content, CONTENT_TYPES[ending], hashlib.sha256(content).hexdigest()[:TAG_LENGTH])


def _logo(path: Path) -> Asset:
    expected = f"a picture (PNG, SVG or WebP) of at most {LOGO_BYTES // 1024} KiB"
    try:
        with path.open("rb") as file:
            content = file.read(LOGO_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"setting logo_file: {path}: {error.strerror}; expected {expected}") from error
    ending = next((kind for kind, (at, sign) in SIGNATURES.items() if content.startswith(sign, at)), None)
    if ending is None and path.suffix.lower() == ".svg" and b"<svg" in content:
        ending = ".svg"
    if ending is None or len(content) > LOGO_BYTES:
        raise SettingsError(f"setting logo_file: expected {expected}, and {path} is none")
    return _asset(content, ending)


def _style(accent: str) -> str:
    colour = channels(accent)
    contrast = _contrast_to_white(colour)
    if contrast < READABLE:
        raise SettingsError(
            f"setting accent_colour: white on {accent} has a contrast of {contrast:.1f}, and text needs {READABLE}; "
            f"{_darkened(colour)} is the nearest that has it"
        )
    lightness, chroma, hue = perceived(colour)
    strength, angle = f"{min(chroma, STRONGEST):.3f}", f"{hue:.1f}"
    light, hover = accent.lower(), f"oklch({max(lightness - HOVER, 0):.3f} {chroma:.3f} {angle})"
    dark, dark_hover = (f"oklch({level} {strength} {angle})" for level in DARK)
    # The client's tokens lie in a layer, where a theme or a person's own accent counts more than what stands here;
    # those of the pages, whose body names the words of their scripts, lie in none.
    return f"""@layer tokens {{
  :root:where(:not([data-accent])), [data-swatch="instance"] {{
    --accent-c: {strength};
    --accent-h: {angle};
    --accent: light-dark({light}, {dark});
    --accent-hover: light-dark({hover}, {dark_hover});
  }}
}}

body[data-words] {{
  --accent: {light};
  --accent-hover: {hover};
  --on-accent: #fff;
}}

@media (prefers-color-scheme: dark) {{
  body[data-words] {{
    --accent: {dark};
    --accent-hover: {dark_hover};
    --on-accent: oklch(0.23 0.04 {angle});
  }}
}}
"""


Channels = tuple[float, float, float]
"""Red, green and blue of light, each from 0 to 1."""


def channels(colour: str) -> Channels:
    """Of a colour such as `#0b6e4f`."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _encoded(light: float) -> int:
    return round(255 * (light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055))


def _contrast_to_white(colour: Channels) -> float:
    red, green, blue = colour
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def _darkened(colour: Channels) -> str:
    """The same colour with less light, so that white can be read on it."""
    red, green, blue = colour
    factor = (1.05 / (READABLE + 0.05) - 0.05) / (0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return "#" + "".join(f"{_encoded(part * factor):02x}" for part in colour)


def perceived(colour: Channels) -> tuple[float, float, float]:
    """Lightness, chroma and hue in degrees."""
    red, green, blue = colour
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    middle = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    lightness = 0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short
    return lightness, math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360
