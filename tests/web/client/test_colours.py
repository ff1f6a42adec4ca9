"""The contrast of the web client's colours, computed from the style sheet: text 4.5, edges, signs and the focus 3 (WCAG
2.2: 1.4.3, 1.4.11)."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Final

import pytest

from chat.web.look import channels, perceived

STYLES: Final = Path(__file__).parents[3] / "chat" / "web" / "client" / "css"
TOKENS: Final = STYLES / "tokens.css"
THEMES: Final = (STYLES / "themes.css").read_text(encoding="utf-8")
PAIR: Final = re.compile(r"--([a-z-]+): light-dark\(\s*oklch\(([\d. ]+)\),\s+oklch\(([\d. ]+)\)\s*\);")
ONE: Final = re.compile(r"--([a-z-]+): oklch\(([\d. ]+)\);")
THEME: Final = re.compile(r':root\[data-theme="(\w+)"\] \{\n    color-scheme: ([a-z ]+);\n(.*?)\}', re.DOTALL)
ACCENT: Final = re.compile(
    r'(?:data-accent="(\w+)"\][^{]*|:root )\{[^}]*?--accent-h: ([\d.]+);\s+--accent-c: ([\d.]+);'
)

GROUNDS: Final = ("rail", "side", "chat", "raised", "hover")
TALK: Final = ("side", "chat", "raised", "hover", "mention", "jump")

TEXTS: Final = {
    "ink": (*GROUNDS, "pressed", "tint", "mention", "jump", "code"),
    "muted": (*GROUNDS, "mention", "tint"),
    "faint": ("side", "chat", "raised", "hover"),
    "link": (*TALK, "tint", "rail"),
    "on-accent": ("accent", "accent-hover"),
    "danger": ("side", "chat", "raised", "hover", "danger-tint"),
    "warn": ("side", "chat", "raised", "hover"),
    "on-badge": ("badge",),
    "chat": ("ink",),
}
"""Colours of text, and the grounds on which it stands."""

SIGNS: Final = {
    "edge": ("chat", "raised"),
    "online": ("rail", "side", "chat", "raised"),
    "idle": ("side", "chat", "raised"),
    "busy": ("rail", "side", "chat", "raised"),
    "focus": (*GROUNDS, "tint", "mention"),
    "accent": ("side", "chat", "raised"),
    "badge": ("rail", "side", "chat"),
}
"""Colours of what has to be made out without being read."""

Colour = tuple[float, float, float]


def accents() -> dict[str, tuple[str, str]]:
    """Hue and chroma of each accent; the one of the tokens has no name."""
    found = ACCENT.findall(TOKENS.read_text(encoding="utf-8") + THEMES)
    return {name: (hue, chroma) for name, hue, chroma in found}


def colour(text: str) -> Colour:
    lightness, chroma, hue = map(float, text.split())
    return lightness, chroma, hue


def schemes(accent: str = "") -> dict[str, dict[str, Colour]]:
    """The colours of both schemes by name: lightness, chroma, hue."""
    found: dict[str, dict[str, Colour]] = {"light": {}, "dark": {}}
    for name, *values in PAIR.findall(accented(TOKENS.read_text(encoding="utf-8"), accent)):
        for scheme, text in zip(found, values, strict=True):
            found[scheme][name] = colour(text)
    return found


def accented(styles: str, accent: str) -> str:
    hue, chroma = accents()[accent]
    return styles.replace("var(--accent-h)", hue).replace("var(--accent-c)", chroma)


def themes(accent: str) -> dict[str, dict[str, Colour]]:
    """The colours of each theme, and of the schemes themselves."""
    found = schemes(accent)
    for theme, scheme, block in THEME.findall(accented(THEMES, accent)):
        of_both = {name: tuple(map(colour, pair)) for name, *pair in PAIR.findall(block)}
        of_one = {name: colour(text) for name, text in ONE.findall(block)}
        for number, one in enumerate(("light", "dark")):
            if one in scheme.split():
                own = {**of_one, **{name: pair[number] for name, pair in of_both.items()}}
                found[f"{theme} {one}"] = {**schemes(accent)[one], **own}
    return found


def linear_rgb(colour: Colour) -> tuple[float, float, float]:
    """Red, green and blue of light (CSS Color 4, section 9: OKLab to linear sRGB), within what a screen shows."""
    lightness, chroma, hue = colour
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short
    return min(max(red, 0.0), 1.0), min(max(green, 0.0), 1.0), min(max(blue, 0.0), 1.0)


def contrast(one: Colour, other: Colour) -> float:
    """The contrast ratio (WCAG 2.2)."""
    lights = []
    for colour in (one, other):
        red, green, blue = linear_rgb(colour)
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return (max(lights) + 0.05) / (min(lights) + 0.05)


ROLE: Final = re.compile(r"oklch\(from var\(--role\) (min|max)\(l, ([\d.]+)\) min\(c, ([\d.]+)\) h\)")


@pytest.mark.parametrize("theme", themes(""))
def test_every_colour_of_a_role_can_be_read(theme: str) -> None:
    """Whatever colour was chosen for a role, names in it are read on every ground that they stand on."""
    rules = dict(zip(("light", "dark"), ROLE.findall(TOKENS.read_text(encoding="utf-8")), strict=True))
    bound, lightest, strongest = rules[theme.split()[-1]]
    shades = [f"{part:x}{part:x}" for part in range(16)]
    chosen = (f"#{red}{green}{blue}" for red in shades for green in shades for blue in shades)
    grounds = [themes("")[theme][ground] for ground in ("side", "chat", "hover", "raised")]
    worst = math.inf
    for lightness, chroma, hue in (perceived(channels(one)) for one in chosen):
        limited = {"min": min, "max": max}[bound](lightness, float(lightest))
        shown = limited, min(chroma, float(strongest)), hue
        worst = min(worst, *(contrast(shown, ground) for ground in grounds))
    assert worst >= 4.5


def test_black_on_white_is_21() -> None:
    assert contrast((0, 0, 0), (1, 0, 0)) == pytest.approx(21, abs=0.01)


@pytest.mark.parametrize("accent", accents())
@pytest.mark.parametrize("theme", themes(""))
@pytest.mark.parametrize(("pairs", "least"), [(TEXTS, 4.5), (SIGNS, 3.0)])
def test_every_pair_can_be_told_apart(theme: str, accent: str, pairs: dict[str, tuple[str, ...]], least: float) -> None:
    colours = themes(accent)[theme]
    if theme.startswith("contrast") and least == 4.5:
        least = 7  # WCAG 2.2, 1.4.6
        pairs = {name: pairs[name] for name in ("ink", "muted", "faint", "link", "chat")}
    measured = {
        f"{name} on {ground}": contrast(colours[name], colours[ground])
        for name, grounds in pairs.items()
        for ground in grounds
    }
    assert {pair: round(ratio, 2) for pair, ratio in measured.items() if ratio < least} == {}


def test_no_colour_is_missed() -> None:
    """Whatever joins the tokens is measured as well, but for lines, which part and say nothing."""
    measured = {
        *TEXTS,
        *SIGNS,
        *(ground for pairs in (TEXTS, SIGNS) for grounds in pairs.values() for ground in grounds),
    }
    assert {*schemes()["light"]} - measured == {"line"}
